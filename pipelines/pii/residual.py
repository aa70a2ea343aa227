"""Residual risk of a dataset version: rows for reviewers to look at, what they saw, and what follows.

A row is shown only to a named reviewer, masked as it is trained on, and the audit knows who looked before it is
opened. What a reviewer says is numbers by type, bound to the version's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from governance.acting import audited
from governance.errors import NotFound
from governance.masking.k_anonymity import anonymity
from governance.masking.risk import in_order, leak_rate
from governance.records.pseudonymised import UseOfRows
from governance.records.rights import Basis, Purpose
from governance.records.row_review import RowReview
from governance.records.trajectory import Trajectory
from governance.store.datasets import RowSource
from pipelines.pii.quasi import people
from pipelines.wiring import Mill

_NEXT: Final = 10
_PART: Final = 200
Result = dict[str, Any]


def residual(mill: Mill, beginning: str, sample: int, names: Sequence[str], k: int) -> Result:
    """The leak rate of a dataset version as far as it was reviewed, what to look at next, and how alike its people are.

    Raises:
        NotFound: when no dataset, or more than one, begins so.

    """
    manifest = mill.store.datasets.find(beginning)
    sources = mill.store.datasets.sources(manifest.root)
    reviews = mill.store.row_reviews.of(manifest.root)
    rows = [source.digest for source in sources]
    reviewed = {review.row for review in reviews}
    wanted = [row for row in in_order(manifest.root, rows)[:sample] if row not in reviewed]
    persons = people(_runs(mill, sources), names)
    return {
        "dataset": manifest.root,
        "scope": manifest.scope,
        "leak_rate": leak_rate(manifest.root, rows, reviews).plain(),
        "to_review": len(wanted),
        "next": wanted[:_NEXT],
        "k_anonymity": anonymity(persons, sorted({name for row in persons for name in row}), k).plain(),
    }


def look(mill: Mill, beginning: str, row: str, reviewer: str) -> Result:
    """A row as it is trained on, for the eyes of a reviewer.

    Raises:
        NotFound: when no dataset or row, or more than one, begins so.

    """
    root, source = _row(mill, beginning, row)
    about = (source.tenant_id, "view_dataset_row", f"dataset_row:{root}/{source.digest}")
    mill.store.audit.append(audited(mill.ids, mill.clock.now(), *about, actor=reviewer))
    _note_look(mill, source)
    held = mill.store.datasets.row(root, source.digest, Purpose.COMPLY)
    text = mill.tokenizer.decode(list(held.input_ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return {"dataset": root, "row": source.digest, "tenant": source.tenant_id, "text": text}


def _note_look(mill: Mill, source: RowSource) -> None:
    """A look at a row that rests on pseudonymised processing stands in its history, too."""
    purpose, asked = Purpose.TRAIN_WEIGHTS, (source.tenant_id, source.subject, source.trajectory_id)
    verdict = mill.store.rights.row_verdicts(purpose, [asked], mill.clock.now())[asked]
    if verdict.basis is Basis.PIPA_28_2:
        mill.store.pseudonymised.note(source.tenant_id, purpose, UseOfRows.LOOK, 1, source.digest)


def mark(mill: Mill, beginning: str, row: str, reviewer: str, leaks: Mapping[str, int]) -> Result:
    """Record what a reviewer saw in a row, and give the rate that follows.

    Raises:
        NotFound: when no dataset or row, or more than one, begins so.
        RecordError: for a type or a count that is none.

    """
    root, source = _row(mill, beginning, row)
    said = {
        "root": root,
        "row": source.digest,
        "tenant_id": source.tenant_id,
        "reviewer": reviewer,
        "leaks": dict(leaks),
        "at": mill.clock.now(),
    }
    mill.store.row_reviews.put(RowReview.parse(said, "review"))
    rows = [one.digest for one in mill.store.datasets.sources(root)]
    return {"row": source.digest, "leak_rate": leak_rate(root, rows, mill.store.row_reviews.of(root)).plain()}


def _row(mill: Mill, beginning: str, row: str) -> tuple[str, RowSource]:
    root = mill.store.datasets.find(beginning).root
    found = [source for source in mill.store.datasets.sources(root) if row and source.digest.startswith(row)]
    if len(found) != 1:
        raise NotFound(f"{len(found)} rows of dataset {root[:12]} begin with {row!r}")
    return root, found[0]


def _runs(mill: Mill, sources: Sequence[RowSource]) -> Iterator[Trajectory]:
    ids = sorted({source.trajectory_id for source in sources})
    for start in range(0, len(ids), _PART):
        yield from mill.store.trajectories.some(ids[start : start + _PART], Purpose.COMPLY)
