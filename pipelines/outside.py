"""Where a command may write what somebody asked for: never into the data home.

What lies there is the installation's own, and an erasure goes through it. A copy that was made for a reader belongs to
that reader: put there, it would be searched and removed as if it were a file of the installation.
"""

from __future__ import annotations

from pathlib import Path

from governance.errors import RecordError


def outside(home: Path, target: Path) -> Path:
    """The target, absolute, links followed.

    Raises:
        RecordError: for one in the data home.

    """
    place = target.absolute().resolve()
    if place.is_relative_to(home.resolve()):
        raise RecordError(f"{target}: lies in the data home {home}; name a place outside of it")
    return place
