"""Feedback for people: what holds now, what was said before, and the runs that it is joined to; and a way to add some.

Reads name their purpose, so what may not be seen is counted and not shown. Adding goes the way of any sender: through
the spool, or while another process holds it (`tidemill up`) through its intake with the tenant's key.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from governance.errors import NotFound
from governance.records.base import to_unix_nano
from governance.records.feedback import Feedback, Statement
from governance.records.rights import Purpose
from ingestion.errors import SpoolBusy
from ingestion.feedback.admission import key_of
from ingestion.feedback.body import FeedbackEnvelope
from ingestion.feedback.item import Item, ItemFault
from pipelines.errors import StepError

if TYPE_CHECKING:
    from pipelines.ground import Ground

_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATER: Final = timedelta(days=2)
_SHORTEST: Final = 8


def listing(ground: Ground, tenant: str, purpose: Purpose, most: int) -> dict[str, Any]:
    """The newest feedback of a tenant, and how many may not be shown, by reason."""
    found = ground.store.feedback.list(purpose, [tenant], _FIRST, ground.clock.now() + _LATER)
    newest = found.rows[::-1][:most]
    runs = ground.store.feedback.runs(newest)
    rows = [{**_head(one), "changes": len(one.earlier), "joined_to": list(runs[one.current.ref[:2]])} for one in newest]
    return {"feedback": rows, "of": len(found.rows), "not_shown": found.excluded}


def show(ground: Ground, tenant: str, name: str, purpose: Purpose) -> dict[str, Any]:
    """One feedback by the sender's id, by the id that the list shows, or by the beginning of its key.

    Raises:
        NotFound: when there is none.
        PurposeDenied: when its person's data may not be used for the purpose.

    """
    one = _find(ground, tenant, name, purpose)
    joined = ground.store.feedback.runs([one])[one.current.ref[:2]]
    return {
        **_head(one),
        "subject": one.current.subject,
        "current": _said(one.current),
        "earlier": [_said(said) for said in one.earlier],
        "joined_to": list(joined),
    }


def add(ground: Ground, tenant: str, body: bytes) -> dict[str, Any]:
    """Add one item or a list of items; what became of each, and ``ok``: whether every one was taken.

    Raises:
        DecodeError: when the body is none.
        StepError: when another process holds the spool and no intake answers.

    """
    envelope = FeedbackEnvelope(received_unix_nano=to_unix_nano(ground.clock.now()), body=body)
    items = envelope.items()
    faults = [one for one in items if isinstance(one, ItemFault)]
    if len(faults) < len(items):
        try:
            ground.spool.append(tenant, envelope.model_copy(update={"entries": len(items)}).pack())
            ground.drain().run()
        except SpoolBusy:
            _post(ground, tenant, body)
    return {
        "accepted": [one.id for one in items if isinstance(one, Item)],
        "rejected": [{"position": one.position, "field": one.field, "reason": one.reason} for one in faults],
        "ok": not faults,
    }


def _find(ground: Ground, tenant: str, name: str, purpose: Purpose) -> Feedback:
    try:
        return ground.store.feedback.get(tenant, key_of(ground.door, tenant, name), purpose)
    except NotFound:
        found = ground.store.feedback.list(purpose, [tenant], _FIRST, ground.clock.now() + _LATER).rows
        named = [one for one in found if one.current.id == name]
        named = named or [one for one in found if len(name) >= _SHORTEST and one.current.key.startswith(name)]
        if len(named) != 1:
            raise NotFound(f"{len(named) or 'no'} feedback of {tenant} under {name!r} that may be shown") from None
        return named[0]


def _post(ground: Ground, tenant: str, body: bytes) -> None:
    import httpx

    from pipelines.supervisor import verification

    settings = ground.settings
    url = f"{settings.intake_url}/v1/feedback"
    headers = {"content-type": "application/json", "x-tidemill-key": ground.tenant_keys.of(tenant)}
    try:
        answer = httpx.post(url, content=body, headers=headers, timeout=60, verify=verification(settings.tls_cert))
    except httpx.HTTPError as error:
        raise StepError(f"{url}: the intake does not answer: {error}") from error
    if answer.status_code != 200:
        raise StepError(f"{url}: the intake did not take it ({answer.status_code}): {answer.text[:200]}")


def _head(one: Feedback) -> dict[str, Any]:
    said = one.current
    about = {name: value for name, value in said.target.plain().items() if value is not None}
    return {"id": said.id, "key": said.key, "kind": said.kind.value, "name": said.name, "about": about, **_said(said)}


def _said(said: Statement) -> dict[str, Any]:
    value = said.value if said.outcome is None else said.outcome.value
    words = {"label": said.label, "comment": said.comment, "content": said.content}
    return {
        "at": said.at.isoformat(),
        "value": value,
        **{name: text for name, text in words.items() if text is not None},
        **({"withheld": True} if said.withheld else {}),
    }
