"""The IRI beside each short name of rights, in what is handed out: purposes, bases, consent statuses, aims.

A record that leaves the house is read without this code, so each of its short names stands with the term that it means
(W3C DPV and its GDPR extension; the project's own where DPV has none). ``with_iris`` puts ``purpose_iri`` beside
``purpose``, and so on, at every depth of a JSON value; what is no term of ours stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from governance.records.pseudonymised import AIM_IRI
from governance.records.rights import BASIS_IRI, CONSENT_IRI, PURPOSE_IRI

_TERMS: Final[dict[str, Mapping[str, str]]] = {
    "purpose": {str(short): iri for short, iri in PURPOSE_IRI.items()},
    "basis": {str(short): iri for short, iri in BASIS_IRI.items()},
    "status": {str(short): iri for short, iri in CONSENT_IRI.items()},
    "aim": {str(short): iri for short, iri in AIM_IRI.items()},
}


def with_iris(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as JSON with the IRI beside each short name that stands under its own key."""
    named = {f"{key}_iri": iri for key in _TERMS.keys() & record.keys() if (iri := _iri(key, record[key])) is not None}
    return named | {key: _inside(one) for key, one in record.items()}


def _inside(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_inside(one) for one in value]
    return with_iris(value) if isinstance(value, dict) else value


def _iri(key: str, short: Any) -> str | None:
    return _TERMS[key].get(short) if isinstance(short, str) else None
