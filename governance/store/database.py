"""Transactions: each call of a repository is one, unless it runs inside another.

Transactions are thread-local and re-entrant. A writer that lost a race (a unique key, a deadlock) was rolled back
whole and runs again; inside an outer transaction only the outermost can run again, so there the loss surfaces as
``Conflict``.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from governance.errors import Conflict, StoreError
from governance.store import dialect

ATTEMPTS = 12
T = TypeVar("T")


class Database:
    """One database and this thread's transaction on it."""

    def __init__(self, url: str) -> None:
        """Connects on first use."""
        self.engine = dialect.open_engine(url)
        self._local = threading.local()

    def close(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()

    @property
    def _current(self) -> Connection | None:
        return getattr(self._local, "connection", None)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads, or the running one."""
        if self._current is not None:
            yield self._current
            return
        with self._open(writer=False) as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = False) -> Iterator[Connection]:
        """A transaction that writes, or the running one; ``durable``: the outermost is on the disk when it ends.

        Raises:
            StoreError: inside one that only reads.

        """
        if self._current is None:
            with self._open(writer=True, durable=durable) as connection:
                yield connection
            return
        if not self._current.get_execution_options().get(dialect.WRITER, False):
            raise StoreError("store: a write inside a transaction that only reads")
        yield self._current

    @contextmanager
    def _open(self, *, writer: bool, durable: bool = False) -> Iterator[Connection]:
        options = {dialect.WRITER: writer, dialect.DURABLE: durable}
        after: list[Callable[[Connection], None]] = []
        with self.engine.connect().execution_options(**options) as connection:
            self._local.connection, self._local.after = connection, after
            try:
                with connection.begin():
                    yield connection
            finally:
                self._local.connection = None
        for work in after:
            self.run(work)

    def with_read(self, work: Callable[[Connection], None]) -> None:
        """Write what belongs to a read: at once where its transaction writes, else right after it, if it succeeded.

        What was read reaches the reader only when this is written.

        Raises:
            StoreError: outside of a transaction.

        """
        if self._current is None:
            raise StoreError("store: what belongs to a read is written with one")
        if self._current.get_execution_options().get(dialect.WRITER, False):
            work(self._current)
        else:
            self._local.after.append(work)

    def run(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a writing transaction, again when it lost a race.

        Raises:
            Conflict: when it lost inside an outer transaction, or every time.

        """
        outermost = self._current is None
        for attempt in range(ATTEMPTS):
            try:
                with self.write() as connection:
                    return work(connection)
            except DBAPIError as error:
                if not dialect.is_retryable(error):
                    raise
                if not outermost or attempt == ATTEMPTS - 1:
                    raise Conflict(f"store: another writer was first: {error.orig}") from error
                time.sleep(random.uniform(0, 0.02 * 2 ** min(attempt, 5)))  # noqa: S311 - back-off, not a secret
        raise Conflict("store: another writer was first every time")  # pragma: no cover - the loop returns or raises
