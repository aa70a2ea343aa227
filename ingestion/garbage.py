"""Fewer collections of cyclic garbage while much is made that has no cycles.

Records refer down and never up, so reference counts free them; the collector walks over all that are alive and finds
nothing. It is put off while a batch of them is in memory, and set back after.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

RARELY: Final = (200_000, 20, 20)
"""Objects that come before a young collection, and young ones before an older one."""


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Collect rarely inside. The setting is the process's, so of two at once the later end sets it back."""
    before = gc.get_threshold()
    gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)
