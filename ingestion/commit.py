"""One transaction over several repositories, again when another writer was first."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from governance.errors import Conflict
from governance.store import Store

_ATTEMPTS: Final = 8
T = TypeVar("T")


def together(store: Store, work: Callable[[], T], *, durable: bool = False) -> T:
    """What ``work`` gives; everything that it writes is written, or nothing. ``durable`` as the store has it.

    Raises:
        Conflict: when another writer was first every time.

    """
    for attempt in range(_ATTEMPTS):
        try:
            with store.transaction(durable=durable):
                return work()
        except Conflict:
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.02 * 2**attempt)
    raise AssertionError  # pragma: no cover - the loop returns or raises
