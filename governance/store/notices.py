"""``store.notices``: the exact texts that people were shown, each once for a tenant, by SHA-256 of its UTF-8 bytes."""

from __future__ import annotations

from sqlalchemy import select

from governance.records.base import digest_bytes
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_principals import NoticeRow


def notice_digest(text: str) -> str:
    """What a consent event calls the notice."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


class Notices:
    """Texts that never change: another text is another notice."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, tenant_id: str, text: str) -> str:
        """Keep a text; its digest. The same text again changes nothing."""
        digest = notice_digest(text)
        row = {"tenant_id": tenant_id, "digest": digest, "text": text, "recorded_at": self._kit.clock.now()}
        self._kit.db.run(lambda connection: dialect.insert_new(connection, NoticeRow, [row]))
        return digest

    def text(self, tenant_id: str, digest: str) -> str | None:
        """The exact text of a digest; None where a platform gave the digest alone."""
        row = NoticeRow
        with self._kit.db.read() as connection:
            return connection.scalar(select(row.text).where(row.tenant_id == tenant_id, row.digest == digest))
