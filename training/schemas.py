"""JSON Schema of tool arguments: the one check that worlds, routing and the harness lever share."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from governance.records.base import canonical_json


@lru_cache(maxsize=512)
def _validator(schema_json: bytes) -> Any:
    import json

    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types

    return Draft202012Validator(json.loads(schema_json))


def violations(schema: dict[str, Any], value: Any) -> tuple[str, ...]:
    """What in ``value`` breaks ``schema``, one line each; empty when it is valid."""
    errors = _validator(canonical_json(schema)).iter_errors(value)
    return tuple(sorted(f"{'.'.join(map(str, error.path)) or 'arguments'}: {error.message}" for error in errors))


def valid(schema: dict[str, Any], value: Any) -> bool:
    """Whether ``value`` satisfies ``schema``."""
    return bool(_validator(canonical_json(schema)).is_valid(value))
