"""``store.row_reviews``: what reviewers saw in rows of datasets, in numbers; each word is audited as it is written."""

from __future__ import annotations

from sqlalchemy import Connection, select

from governance.acting import audited
from governance.records.row_review import RowReview
from governance.store import audit, dialect
from governance.store.kit import Kit
from governance.store.tables_reviews import RowReviewRow

_FIELDS = tuple(RowReview.model_fields)


class RowReviews:
    """Reviews by dataset."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, review: RowReview) -> None:
        """Record a review in place of the reviewer's earlier one of the row."""
        self._kit.db.run(lambda connection: self._put(connection, review))

    def of(self, root: str) -> tuple[RowReview, ...]:
        """The reviews of a dataset, by time."""
        table = RowReviewRow
        columns = (getattr(table, name) for name in _FIELDS)
        statement = select(*columns).where(table.root == root).order_by(table.at, table.row, table.reviewer)
        with self._kit.db.read() as connection:
            return tuple(RowReview.model_validate(dict(found)) for found in connection.execute(statement).mappings())

    def roots(self) -> tuple[str, ...]:
        """The datasets that somebody reviewed."""
        with self._kit.db.read() as connection:
            return tuple(connection.scalars(select(RowReviewRow.root).distinct().order_by(RowReviewRow.root)))

    def _put(self, connection: Connection, review: RowReview) -> None:
        row = review.model_dump() | {"expires_at": self._kit.expires(RowReviewRow)}
        dialect.upsert(connection, RowReviewRow, [row], ["leaks", "at", "expires_at"])
        target, detail = f"dataset_row:{review.root}/{review.row}", {"leaks": dict(sorted(review.leaks.items()))}
        about = (review.tenant_id, "review_row", target, detail)
        audit.append(connection, audited(self._kit.ids, review.at, *about, actor=review.reviewer))
