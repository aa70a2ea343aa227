"""Files that no reader of TOML can read, each for another reason."""

from __future__ import annotations

from typing import Final

UNREADABLE: Final = {
    "no UTF-8": b'name = "\xff"',
    "nested too deep": b"x = " + b"[" * 5000 + b"]" * 5000,
    "a number too long": b"x = " + b"9" * 5000,
}
