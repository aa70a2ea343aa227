"""Which act is whose: one table from every act to the roles that may do it, and whether it changes something.

An act is a command by its words (``rights grant``), a Dagster asset (``asset dataset``) or a request to a door
(``POST /v1/traces``). An act without roles only tells how this installation is, nothing of anybody's data. What is the
service's alone is done by its own processes: a door knows a sender by its tenant's key, a schedule knows nobody. What
the table does not name is an admin's and changes something; a test walks every command, asset and route, so that none
stays unnamed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from governance.records.principal import HUMAN_ROLES, Role


class Act(NamedTuple):
    """What the table says of an act."""

    roles: tuple[Role, ...]
    """Who may do it; of somebody's roles the first that stands here is the one that they act in."""
    changes: bool
    """Whether the audit says that it was done."""

    @property
    def open(self) -> bool:
        """Whether nobody needs to say who they are."""
        return not self.roles

    @property
    def services(self) -> bool:
        """Whether it is the service's alone."""
        return self.roles == (Role.SERVICE,)


_ENGINEER, _REVIEWER, _MANAGER, _ADMIN = Role.ENGINEER, Role.REVIEWER, Role.RELEASE_MANAGER, Role.ADMIN
_OPEN: Final = Act((), changes=False)
_SERVICE: Final = Act((Role.SERVICE,), changes=True)
_SERVICE_ASKS: Final = Act((Role.SERVICE,), changes=False)
_ANYONE_ASKS: Final = Act(HUMAN_ROLES, changes=False)
_LOOKS: Final = Act((_ENGINEER, _REVIEWER, _ADMIN), changes=False)
_REVIEWS: Final = Act((_REVIEWER, _ADMIN), changes=False)
_WORKS: Final = Act((_ENGINEER, _ADMIN), changes=True)
_TENDS: Final = Act((_ENGINEER, _REVIEWER, _ADMIN), changes=True)
_RECORDS: Final = Act((_REVIEWER, _ADMIN), changes=True)
_RELEASES: Final = Act((_MANAGER, _ADMIN), changes=True)
_RUNS: Final = Act((_ENGINEER, _MANAGER, _ADMIN), changes=True)
_DECIDES: Final = Act((_REVIEWER, _MANAGER, _ADMIN), changes=True)
_DRAFTS: Final = Act(HUMAN_ROLES, changes=True)
_RULES: Final = Act((_ADMIN,), changes=True)
_RULER_ASKS: Final = Act((_ADMIN,), changes=False)

UNNAMED: Final = _RULES
"""What stands for an act that the table does not name."""

COMMANDS: Final[dict[str, Act]] = {
    "demo": Act((_ADMIN, _ENGINEER), changes=True),
    "test": _OPEN,
    "up": _RUNS,
    "down": _RUNS,
    "status": _OPEN,
    "doctor": _OPEN,
    "cycle": _WORKS,
    "replay": _WORKS,
    "ingest": _WORKS,
    "trajectories list": _LOOKS,
    "trajectories show": _LOOKS,
    "feedback add": _TENDS,
    "feedback list": _LOOKS,
    "feedback show": _LOOKS,
    "ledger": _ANYONE_ASKS,
    "quarantine list": _LOOKS,
    "quarantine retry": _TENDS,
    "quarantine show": _REVIEWS,
    "pii scan": _LOOKS,
    "pii rescan": _TENDS,
    "pii evaluate": _LOOKS,
    "pii report": _REVIEWS,
    "pii risk": _REVIEWS,
    "pii look": _REVIEWS,
    "pii mark": _RECORDS,
    "pii anonymity": _LOOKS,
    "pii policy": _LOOKS,
    "pii list add": _RECORDS,
    "pii list remove": _RECORDS,
    "pii list show": _LOOKS,
    "pii review list": _REVIEWS,
    "pii review show": _REVIEWS,
    "pii review decide": _RECORDS,
    "tenant keys list": _RULER_ASKS,
    "tenant keys add": _RULES,
    "tenant keys rotate": _RULES,
    "tenant keys revoke": _RULES,
    "keys show": _RULER_ASKS,
    "keys rotate": _RULES,
    "rights grant": _RECORDS,
    "rights withdraw": _RECORDS,
    "rights object": _RECORDS,
    "rights import": _RECORDS,
    "rights state": _REVIEWS,
    "rights receipt": _REVIEWS,
    "rights verdict": _ANYONE_ASKS,
    "rights fact add": _RECORDS,
    "rights fact end": _RECORDS,
    "rights fact list": _REVIEWS,
    "rights dry-run": _LOOKS,
    "rights rebuilds": _ANYONE_ASKS,
    "rights assessment add": _DRAFTS,
    "rights assessment approve": _RECORDS,
    "rights assessment end": _RECORDS,
    "rights assessment list": _ANYONE_ASKS,
    "rights pseudonymised declare": _DRAFTS,
    "rights pseudonymised start": _RECORDS,
    "rights pseudonymised end": _RECORDS,
    "rights pseudonymised list": _ANYONE_ASKS,
    "rights pseudonymised history": _REVIEWS,
    "rights unlawful list": _ANYONE_ASKS,
    "rights unlawful retire": _RECORDS,
    "lineage release": _REVIEWS,
    "lineage subject": _REVIEWS,
    "audit list": _REVIEWS,
    "audit verify": _ANYONE_ASKS,
    "audit checkpoint": _RECORDS,
    "audit export": _REVIEWS,
    "document all": _REVIEWS,
    "document bill": _REVIEWS,
    "document dataset-card": _REVIEWS,
    "document processing-record": _REVIEWS,
    "document provenance": _REVIEWS,
    "document training-summary": _REVIEWS,
    "dataset list": _ANYONE_ASKS,
    "dataset show": _REVIEWS,
    "dataset lines": _REVIEWS,
    "dataset verify": _ANYONE_ASKS,
    "dataset diff": _REVIEWS,
    "dataset export": _RECORDS,
    "leak declare": _RECORDS,
    "leak membership": _WORKS,
    "leak revoke": _RECORDS,
    "leak status": _ANYONE_ASKS,
    "leak test": _WORKS,
    "subject notice": _RECORDS,
    "subject show": _REVIEWS,
    "subject list": _REVIEWS,
    "subject certificate": _REVIEWS,
    "subject export": _RECORDS,
    "subject rectify": _RECORDS,
    "subject restrict": _RECORDS,
    "subject unrestrict": _RECORDS,
    "subject erase": _RECORDS,
    "release list": _ANYONE_ASKS,
    "release history": _ANYONE_ASKS,
    "release rollback": _RELEASES,
    "principal add": _RULES,
    "principal list": _RULER_ASKS,
    "principal rotate": _RULES,
    "principal revoke": _RULES,
    "approval give": _DECIDES,
    "approval refuse": _DECIDES,
    "approval list": _ANYONE_ASKS,
    "control": _SERVICE,
}
_OFTEN: Final = ("drained_spool", "masked_store", "rights_in_service", "anchored_audit")
"""Assets that mostly find nothing to do, every few minutes or each hour: what they change says so itself."""
ASSETS: Final[dict[str, Act]] = {
    f"asset {name}": _SERVICE_ASKS if name in _OFTEN else _SERVICE
    for name in (
        "base_model", "trajectories", "worlds", "patterns", "proposals", "tasks", "dataset", "adapter", "candidate",
        "evaluation", "gate_report", "registration", "promotion", "swept_store", *_OFTEN,
    )
}  # fmt: skip
ROUTES: Final[dict[str, Act]] = {
    "POST /v1/traces": _SERVICE,
    "POST /v1/logs": _SERVICE,
    "POST /v1/feedback": _SERVICE,
    "POST /v1/consent": _SERVICE,
    "POST /v1/completions": _SERVICE,
    "POST /v1/chat/completions": _SERVICE,
    "GET /v1/models": _SERVICE_ASKS,
    "GET /health": _OPEN,
    "GET /metrics": _OPEN,
}
"""Of intake and gateway. A sender is known by its tenant's key; what it sends is written down by the service."""
KEYS: Final[dict[str, Act]] = {"key subject": _RECORDS, "key surrogate": _RECORDS}
"""Uses of keys by which pseudonyms lead to people, inside of other acts (``governance.reidentification``)."""
ACTS: Final[dict[str, Act]] = COMMANDS | ASSETS | ROUTES | KEYS
PRINCIPAL_ACTS: Final = frozenset(name for name in COMMANDS if name.startswith("principal "))
"""What the local owner may do again when no admin is left who could."""


def act_of(name: str) -> Act:
    """What the table says of an act."""
    return ACTS.get(name, UNNAMED)
