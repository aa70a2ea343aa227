"""A tracker that keeps aliases, and can be away."""

from __future__ import annotations

from typing import Any

from governance.ports.tracker import Tracker
from serving.errors import TrackerError


class AliasBook(Tracker):
    """Keeps aliases; ``away`` makes it fail."""

    def __init__(self) -> None:
        self.aliases: dict[tuple[str, str], str | None] = {}
        self.away = False

    def record_run(self, **_: Any) -> str:
        return "run"

    def register_release(self, **_: Any) -> str:
        return "1"

    def project_alias(self, *, scope: str, alias: str, release_digest: str | None) -> None:
        if self.away:
            raise TrackerError("away")
        self.aliases[scope, alias] = release_digest

    def delete_run_artifacts(self, run_id: str) -> None:
        return None
