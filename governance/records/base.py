"""The base of every record: frozen, strict, and named by what it contains.

1. A record never changes after it is made, so it can be shared between threads and hashed.
2. A field that the record does not declare is refused, so a typo is an error and not a lost value.
3. ``digest()`` is SHA-256 over the canonical JSON of the record (RFC 8785 in the part that applies:
   UTF-8, sorted keys, no white space; floats are written as Python's shortest round-trip form).
   Two records are the same thing exactly when their digests are equal.
4. Times are aware and in UTC; a naive time is refused at the border.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, StringConstraints, ValidationError

from governance.errors import RecordError

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 as 64 lower-case hex digits."""

UtcTime = Annotated[AwareDatetime, AfterValidator(lambda value: value.astimezone(UTC))]
"""An aware time, normalised to UTC."""


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> bytes:
    """The one byte form of a JSON value: sorted keys, no white space, UTF-8.

    Raises:
        ValueError: for NaN and the infinities, which JSON does not have.

    """
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def digest_bytes(data: bytes) -> str:
    """SHA-256 of ``data`` as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_json(value: Any) -> str:
    """SHA-256 of the canonical JSON of ``value``."""
    return digest_bytes(canonical_json(value))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def from_unix_nano(nanoseconds: int) -> datetime:
    """The UTC time of an OTLP timestamp, truncated to microseconds."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def to_unix_nano(moment: datetime) -> int:
    """OTLP nanoseconds of an aware time, exact to the microsecond."""
    whole = int(moment.replace(microsecond=0).timestamp())
    return whole * 1_000_000_000 + moment.microsecond * 1000


_new = object.__new__
_NONE: Final = ("__pydantic_extra__", "__pydantic_private__")
_put_values = BaseModel.__dict__["__dict__"].__set__


@cache
def _shape(record: type[BaseModel]) -> tuple[dict[str, Any], set[str]]:
    """The values of fields that need none, and the names of all."""
    fields = record.model_fields
    return {name: field.default for name, field in fields.items() if not field.is_required()}, set(fields)


class Record(BaseModel):
    """A frozen value named by its content."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def proven(cls, **fields: Any) -> Self:
        """The record of values that are already what its fields say, without looking at them again.

        For code that has just made them so. Maps that are left out are shared by all records, and never changed.
        """
        made = _new(cls)
        _put_values(made, {**_shape(cls)[0], **fields})
        return made

    @classmethod
    def proven_whole(cls, fields: dict[str, Any]) -> Self:
        """As ``proven``, of a map that has every field; the map becomes the record's own."""
        made = _new(cls)
        _put_values(made, fields)
        return made

    def but(self, **fields: Any) -> Self:
        """The record with other values in these fields, as ``proven`` takes them."""
        made = _new(type(self))
        _put_values(made, {**self.__dict__, **fields})
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What ``proven`` leaves out, since it is seldom asked for: all fields are set, and nothing else is."""
            if name == "__pydantic_fields_set__":
                return _shape(type(self))[1]
            if name in _NONE:
                return None
            return super().__getattr__(name)

    def plain(self) -> dict[str, Any]:
        """The record as JSON-ready values."""
        return self.model_dump(mode="json")

    def digest(self) -> str:
        """The record's name: SHA-256 of its canonical JSON."""
        return digest_json(self.plain())

    @classmethod
    def parse(cls, value: Any, where: str) -> Self:
        """Build the record from plain values.

        Raises:
            RecordError: naming ``where`` and each field that is wrong.

        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or '(whole)'}: {item['msg']}" for item in error.errors()
            )
            raise RecordError(f"{where}: not a {cls.__name__}: {faults}") from error
