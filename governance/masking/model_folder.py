"""A local folder with a tagging model: of which kind it is, what its labels mean, and what names it.

Theory. The folder's own configuration says what it holds: ``gliner_config.json`` a GLiNER model, ``config.json`` with
an architecture ``...ForTokenClassification`` one of transformers. Anything else is refused, before any library is
loaded. What the labels mean stands in ``model_labels``, and in ``tidemill_labels.toml`` beside the model where its
owner differs::

    [labels]
    EMPLOYEE = "PERSON"
    MISC = ""            # nothing personal

GLiNER is told what to look for: there the file names all labels that it is asked for, in words.

The name of a model is the digest of every file in its folder, weights included: models that differ in their weights
alone find different things.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from governance.errors import MaskingError
from governance.masking.model_labels import types_of

LABELS_FILE: Final = "tidemill_labels.toml"
_ASKED: Final = {
    "person": "PERSON", "organization": "ORGANIZATION", "city": "GPE", "country": "GPE", "street address": "LOCATION",
    "email address": "EMAIL_ADDRESS", "phone number": "PHONE_NUMBER", "date of birth": "DATE_OF_BIRTH",
    "passport number": "PASSPORT", "credit card number": "CREDIT_CARD", "bank account number": "BANK_ACCOUNT",
    "driver license number": "DRIVER_LICENSE", "tax id": "TAX_ID", "national id number": "NATIONAL_ID",
}  # fmt: skip
"""What a GLiNER model is asked for unless its folder says otherwise."""


class Kind(StrEnum):
    """Which library reads a model."""

    TOKENS = "transformers"
    GLINER = "gliner"


@dataclass(frozen=True)
class ModelFolder:
    """A model whose configuration was read; its weights were not."""

    path: Path
    kind: Kind
    labels: tuple[str, ...]
    """The model's labels in its order; what GLiNER is asked for."""
    types: Mapping[str, str]
    """Label, without the sign of its place, to entity type; empty for nothing personal."""

    @classmethod
    def read(cls, path: Path) -> ModelFolder:
        """What a folder says of itself.

        Raises:
            MaskingError: when there is no folder, no such model in it, or a label that nobody explained.

        """
        path = _folder(path)
        own = _own_labels(path)
        if (path / "gliner_config.json").is_file():
            asked = own or _ASKED
            return cls(path, Kind.GLINER, tuple(asked), types_of(list(asked), asked, _where(path)))
        labels = _token_labels(path)
        return cls(path, Kind.TOKENS, labels, types_of(list(labels), own, _where(path)))

    @property
    def entities(self) -> tuple[str, ...]:
        """The types that it may find."""
        return tuple(sorted({entity for entity in self.types.values() if entity}))


def model_digest(path: Path) -> str:
    """The name of the model in a folder: a digest over the names and bytes of its files; about a second a gigabyte.

    Raises:
        MaskingError: when there is no such folder or a file cannot be read.

    """
    path = _folder(path)
    whole = hashlib.sha256()
    try:
        for file in sorted(one for one in path.rglob("*") if one.is_file() and not _hidden(one.relative_to(path))):
            with file.open("rb") as held:
                named = hashlib.file_digest(held, "sha256").hexdigest()
            whole.update(f"{file.relative_to(path).as_posix()}={named}\n".encode())
    except OSError as error:
        raise MaskingError(f"the model of personal values: {path} cannot be read ({type(error).__name__})") from error
    return whole.hexdigest()


def _folder(path: Path) -> Path:
    path = path.expanduser().resolve()
    if not path.is_dir():
        raise MaskingError(f"the model of personal values: there is no folder {path}")
    return path


def _hidden(place: Path) -> bool:
    """Whether it is a note of a tool (``.cache``, ``.git``) and no part of a model."""
    return any(part.startswith(".") for part in place.parts)


def _token_labels(path: Path) -> tuple[str, ...]:
    file = path / "config.json"
    if not file.is_file():
        raise MaskingError(f"the model of personal values: {path} has neither a config.json nor a gliner_config.json")
    try:
        config: Any = json.loads(file.read_text(encoding="utf-8"))
        architectures = [str(name) for name in config.get("architectures") or ()]
        held = {int(number): str(label) for number, label in (config.get("id2label") or {}).items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise MaskingError(f"the model of personal values: {file} cannot be read ({type(error).__name__})") from error
    if not any(name.endswith("ForTokenClassification") for name in architectures):
        found = ", ".join(architectures) or "none"
        raise MaskingError(f"{file}: the architecture is {found}, and none for token classification")
    if not held or sorted(held) != list(range(len(held))):
        raise MaskingError(f"{file}: id2label does not name every label")
    return tuple(held[number] for number in range(len(held)))


def _own_labels(path: Path) -> dict[str, str]:
    file = path / LABELS_FILE
    if not file.exists():
        return {}
    try:
        held = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MaskingError(f"{file} cannot be read as TOML ({type(error).__name__})") from error
    labels = held.get("labels")
    if set(held) != {"labels"} or not isinstance(labels, dict) or not all(isinstance(v, str) for v in labels.values()):
        raise MaskingError(f"{file} must be one table [labels] of label = type")
    return labels


def _where(path: Path) -> str:
    return str(path / LABELS_FILE)
