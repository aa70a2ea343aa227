"""What an erasure works with, besides the store and the places; each is left out where there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from governance.approvals import Approvals
from governance.erasure_journal import ErasureJournal
from governance.erasure_work import ErasureWork
from governance.ports.keys import KeyProvider
from governance.ports.surrogate_check import SurrogateCheck


class ErasureMeans(NamedTuple):
    """What an erasure works with, besides the store and the places."""

    keys: KeyProvider | None = None
    """Signs certificates; without keys they are not signed."""
    approvals: Approvals | None = None
    """Says who has to approve; without them nobody has."""
    surrogates: SurrogateCheck | None = None
    """Finds what stands for a person's values, so that the search looks for it."""
    work: ErasureWork | None = None
    """Remembers what is looked for; without it a run that is taken up again looks for the hash alone."""
    journal: ErasureJournal | None = None
    """What a restored backup is checked against."""
    reached: Callable[[str], None] = lambda _: None
    """Is told each step that is done."""


NO_MEANS: Final = ErasureMeans()
