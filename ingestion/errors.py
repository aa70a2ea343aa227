"""The exception tree of ``ingestion``.

    TidemillError
    └── IngestionError
        ├── DecodeError          a body is not what its content type says, or too big once unpacked
        │   ├── WrongSignal      a well-formed export of another signal than its path takes
        │   └── BodyTooLarge     more bytes than the receiver's bound, packed or unpacked
        ├── ImportRefused        a file that cannot be read as one, or is beyond the importers' bounds
        │   └── FormUnknown      a readable file in none of the forms
        ├── BudgetSpent          no room for more bytes of bodies in progress; the sender should wait
        ├── SpoolError           the spool cannot take or give back a record
        │   ├── SpoolFull        the bound on undrained bytes is reached; the sender should wait
        │   ├── SpoolBusy        another process writes to it
        │   └── SegmentCorrupt   a sealed segment fails its checks before its end
        ├── MergeError           two spans that are not versions of one span
        └── DoorError            a door cannot open: its address or its certificate

A ``DecodeError`` is final: the same bytes fail again, so a sender must not retry. A ``SpoolError`` and a
``BudgetSpent`` are not.
"""

from __future__ import annotations

from governance.errors import TidemillError


class IngestionError(TidemillError):
    """Root of this package's errors."""


class DecodeError(IngestionError):
    """A body is not what its content type says. Never worth a retry."""


class WrongSignal(DecodeError):
    """A well-formed export of another signal than its path takes."""


class BodyTooLarge(DecodeError):
    """More bytes than the receiver's bound, packed or unpacked."""


class ImportRefused(IngestionError):
    """A file that cannot be read as one, or is beyond the importers' bounds."""


class FormUnknown(ImportRefused):
    """A readable file in none of the forms that can be imported."""


class BudgetSpent(IngestionError):
    """No room for more bytes of bodies in progress."""


class SpoolError(IngestionError):
    """The spool cannot take or give back a record."""


class SpoolFull(SpoolError):
    """The bound on undrained bytes is reached."""


class SpoolBusy(SpoolError):
    """Another process writes to the spool."""


class SegmentCorrupt(SpoolError):
    """A sealed segment fails its checks before its end."""


class MergeError(IngestionError):
    """Two spans that are not versions of one span."""


class DoorError(IngestionError):
    """A door cannot open: its address or its certificate."""
