"""What a tenant's documents stated at other times: the evidence for what an answer must avoid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from governance.errors import TidemillError
from governance.records.world import WorldRef
from training.values import fold, leaves, quantities, states, unit_of
from training.worlds import WorldHost


class DocumentHistory:
    """Every text that each document of a tenant has had in the worlds that were read."""

    def __init__(self, host: WorldHost) -> None:
        """Reads through the host, so under its purpose."""
        self._host = host
        self._seen: set[tuple[str, str]] = set()
        self._texts: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)

    def read(self, ref: WorldRef) -> None:
        """Take in a world's documents; a world that is no longer held has none."""
        if (ref.tenant_id, ref.masked_digest) in self._seen:
            return
        self._seen.add((ref.tenant_id, ref.masked_digest))
        try:
            documents = self._host.world(ref.masked_digest).documents
        except TidemillError:
            return
        for name, text in documents.items():
            self._texts[ref.tenant_id, name][text] = None

    def elsewhere(self, ref: WorldRef, read: Iterable[Any], answer: str) -> tuple[str, ...]:
        """Quantities that the documents behind ``read`` state at other times, in a unit that the answer uses.

        A value that any document of this world states too is not wrong, and is left out.
        """
        documents = self._host.world(ref.masked_digest).documents
        texts = {fold(leaf) for item in read for leaf in leaves(item)}
        right = {value for text in documents.values() for value in quantities(text)}
        wrong: dict[str, None] = {}
        for name, text in documents.items():
            if fold(text) not in texts:
                continue
            units = {unit_of(value) for value in quantities(text) if states(answer, value)}
            for other in self._texts[ref.tenant_id, name]:
                wrong.update(dict.fromkeys(value for value in quantities(other) if unit_of(value) in units))
        return tuple(value for value in wrong if value not in right)
