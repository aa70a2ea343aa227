"""What several commands and assets do with a mill: scopes, champions, windows, turns, rollback."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from governance.records.cycle import CycleOutcome
from governance.records.release import ReleaseBundle
from governance.records.rights import ConsentEvent, ConsentStatus, Purpose
from governance.records.scope import Scope
from governance.store.notices import notice_digest
from pipelines.errors import StepError
from pipelines.product import has_product
from pipelines.turn import Turn, Window
from pipelines.wiring import Mill
from serving.deployment import INITIAL

if TYPE_CHECKING:
    from pipelines.supervisor import Service

ACTOR = "tidemill"
DEFAULT_TENANT = "default"
Tell = Callable[[str], None]


def bootstrap(mill: Mill, tell: Tell) -> None:
    """Make a data home ready: base prepared, API keys made, contracts recorded, a first champion in each scope.

    Without an agent product there is one API key, of the tenant ``default``, and no contract: what its spans say is
    withheld.
    """
    with mill.narrate(tell):
        base = mill.base
    if not has_product(mill.settings):
        mill.tenant_keys.of(DEFAULT_TENANT)
        return
    for contract in mill.product.contracts():
        mill.store.rights.add_contract(contract)
    for tenant in mill.product.tenants:
        mill.tenant_keys.of(tenant)
    first = ReleaseBundle.of(base, None, mill.product.harness(), mill.product.context())
    for scope in mill.scopes():
        if mill.store.deployments.current(scope.name) is None:
            mill.store.releases.put(first, None, "the agent as it was before the first cycle")
            mill.store.deployments.switch(scope.name, 0, first.release.digest(), INITIAL, ACTOR)


def serving_services(mill: Mill) -> list[Service]:
    """What an agent needs to be answered and heard."""
    from pipelines.services import control_service

    return [mill.vllm_service(), control_service(mill.settings)]


def record_consents(mill: Mill, events: Iterable[ConsentEvent]) -> int:
    """Record events whose ``subject`` is still the raw id: the door's hash takes its place. How many they were."""
    hashed = [one.model_copy(update={"subject": mill.door.subject(one.tenant_id, one.subject)}) for one in events]
    mill.store.rights.add_consents(hashed)
    return len(hashed)


def start_serving(mill: Mill, tell: Tell) -> None:
    """Start vLLM, intake and gateway, and load what the champions need."""
    from pipelines.services import start_all

    fresh = mill.supervisor.running("vllm") is None
    start_all(mill.supervisor, serving_services(mill), tell)
    if fresh:
        mill.promoter.restore()


def start_engine(mill: Mill) -> None:
    """Start vLLM unless it runs, and load what the champions need."""
    fresh = mill.supervisor.running("vllm") is None
    mill.supervisor.ensure(mill.vllm_service(), mill.tell)
    if fresh:
        mill.promoter.restore()


def main_scope(mill: Mill) -> Scope:
    """The scope with the most tenants.

    Raises:
        StepError: when no tenant has a contract: nothing may be learned from anyone.

    """
    found = mill.scopes()
    if not found:
        raise StepError(
            "no tenant of an agent has a contract, so nothing can be worked on; set TIDEMILL_AGENT (docs/engineers.md)"
        )
    return max(found, key=lambda scope: (len(scope.tenants), scope.name))


def scope_named(mill: Mill, name: str | None) -> Scope:
    """The scope of that name, the main one for None.

    Raises:
        StepError: naming the scopes that there are.

    """
    if not name:
        return main_scope(mill)
    found = {scope.name: scope for scope in mill.scopes()}
    if name not in found:
        raise StepError(f"no scope {name}; there are: {', '.join(sorted(found)) or 'none'}")
    return found[name]


def champion(mill: Mill, scope: Scope) -> tuple[ReleaseBundle, int]:
    """The champion of a scope and the version of its deployment.

    Raises:
        StepError: when the scope has none yet.

    """
    current = mill.store.deployments.current(scope.name)
    if current is None:
        raise StepError(f"{scope.name}: no release is deployed yet; run: tidemill up")
    return mill.store.releases.get(current.release_digest), current.version


def window_of(mill: Mill, start: str | None, end: str | None) -> Window:
    """The window between two ISO times; the last seven whole UTC days where one is missing.

    Raises:
        StepError: for a time that cannot be read, or an end before its start.

    """
    midnight = mill.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    until = moment(end) if end else midnight
    since = moment(start) if start else until - timedelta(days=7)
    if since >= until:
        raise StepError(f"the window ends at {until.isoformat()}, not after its start {since.isoformat()}")
    return Window(start=since, end=until)


def moment(text: str) -> datetime:
    """The time that an ISO 8601 text says, in UTC where it names no zone.

    Raises:
        StepError: for any other text.

    """
    try:
        said = datetime.fromisoformat(text)
    except ValueError as error:
        raise StepError(f"{text!r} is not an ISO 8601 time such as 2026-11-23T00:00:00+00:00") from error
    return said.replace(tzinfo=UTC) if said.tzinfo is None else said.astimezone(UTC)


def turn_of(mill: Mill, scope: Scope, window: Window) -> Turn:
    """The turn of a scope and window: the one that is under way, else one under the rights of now.

    A right that ends while a turn is under way does not begin another: its rows drop, and the turn goes on.
    """
    cycles = [one for one in mill.store.cycles.list(scope.name) if one.outcome is CycleOutcome.RUNNING]
    running = [one.id for one in cycles if (one.window_start, one.window_end) == (window.start, window.end)]
    return Turn(
        store=mill.store,
        clock=mill.clock,
        scope=scope,
        window=window,
        rights_state=mill.store.rights.state(),
        under_way=running[-1] if running else None,
    )


def last_window(mill: Mill, scope_name: str) -> Window | None:
    """The newest window that a cycle of the scope worked on."""
    cycles = mill.store.cycles.list(scope_name)
    if not cycles:
        return None
    newest = max(cycles, key=lambda cycle: cycle.window_end)
    return Window(start=newest.window_start, end=newest.window_end)


def record_consent(
    mill: Mill, tenant: str, subject: str, purpose: Purpose, *, status: ConsentStatus, notice: str
) -> None:
    """Record what a person said now, and the exact text that they were shown."""
    now = mill.clock.now()
    digest = mill.store.notices.put(tenant, notice) if notice else notice_digest(notice)
    mill.store.rights.add_consent(
        ConsentEvent(
            id=mill.ids.hex(16),
            tenant_id=tenant,
            subject=subject,
            purpose=purpose,
            status=status,
            notice_digest=digest,
            valid_from=now,
            recorded_at=now,
            actor="subject",
        )
    )


def rollback(mill: Mill, scope: Scope, reason: str) -> dict[str, Any]:
    """Go back to the newest earlier release that may serve, and say what happened."""
    start_engine(mill)
    done = mill.promoter.rollback(scope.name, reason, ACTOR)
    return {
        "scope": scope.name,
        "release": done.deployment.release_digest,
        "version": done.deployment.version,
        "reason": done.deployment.reason,
        "seconds": round(done.seconds, 3),
        "unloaded": list(done.unloaded),
    }
