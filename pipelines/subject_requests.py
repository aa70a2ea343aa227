"""What a person may ask for besides erasure: a copy, a correction, that their data rests; and what is due when.

Each request that is done leaves a record with its kind, its deadline and what came of it, and an audit event. They are
data about the person, so they leave with them.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from governance.acting import acting, audited, complying
from governance.errors import NotFound, RecordError
from governance.policy.facts import facts_at
from governance.records.rights import BASIS_IRI, CONSENT_IRI, PURPOSE_IRI, FactKind, RightsFact
from governance.records.rights_request import REQUEST_IRI, RequestKind, RightsRequest
from governance.terms import with_iris
from pipelines.outside import outside

if TYPE_CHECKING:
    from governance.erasure_notices import ErasureNotices
    from pipelines.wiring import Mill

NOTHING: Final = "nothing is held of this person"
OF_RIGHTS: Final = frozenset({"consent_events", "dataset_lines", "dataset_rows", "rights_facts"})
"""Tables whose short names are terms of ours; in what was said they would be anybody's words."""
FORMAT: Final = "tidemill subject export 1"


def show(mill: Mill, tenant: str, subject: str) -> dict[str, Any]:
    """What is held of a person, what was made from it, to whom it was given, and what they asked for."""
    plan = mill.erasure.plan(tenant, subject)
    asked = [one.plain() for one in mill.store.requests.of(tenant, subject)]
    told = {} if plan.total else {"message": NOTHING}
    with complying("a person's own question"):
        given = _given(mill, tenant, subject) if plan.total else []
    return {"subject": subject, **plan.plain(), "given_to": given, "requests": asked, **told}


def _given(mill: Mill, tenant: str, subject: str) -> list[dict[str, Any]]:
    return [one.plain() for one in mill.store.manifests.recipients(tenant, subject)]


def export(mill: Mill, tenant: str, subject: str, path: Path) -> dict[str, Any]:
    """Write all that is held of a person to a new file that only its owner can read.

    Raises:
        RecordError: when the file is there already, or lies in the data home, where an erasure would meet it.

    """
    target = outside(mill.settings.home, path.expanduser())
    with complying("a person's own question"):
        held = mill.store.holdings(tenant, subject)
        given = _given(mill, tenant, subject)
    iris = {"purposes": PURPOSE_IRI, "bases": BASIS_IRI, "consent": CONSENT_IRI, "requests": REQUEST_IRI}
    document = {
        "format": FORMAT,
        "at": mill.clock.now().isoformat(),
        "tenant": tenant,
        "subject": subject,
        "terms": iris,
        "held": {name: list(map(with_iris, rows)) if name in OF_RIGHTS else rows for name, rows in held.items()},
        "made_from_it": mill.erasure.plan(tenant, subject).made,
        "given_to": given,
    }
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise RecordError(f"{path}: is there already; choose another name") from error
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, sort_keys=True, ensure_ascii=False)
    counts = {name: len(rows) for name, rows in held.items()}
    if not held:
        return {"subject": subject, "file": str(path), "held": counts, "message": NOTHING}
    request = _done(mill, tenant, subject, RequestKind.PORTABILITY, f"{sum(counts.values())} records")
    return {"subject": subject, "file": str(path), "held": counts, "request": request.id, "message": "written"}


def rectify(mill: Mill, tenant: str, raw_id: str, run: str, right: str) -> dict[str, Any]:
    """Record what is right about a run, and use the run for nothing any more.

    The correction passes the door like any feedback; the run is restricted, for good, and stays to be shown.

    Raises:
        NotFound: when there is no such run of this person.
        RecordError: when the correction was not taken.

    """
    from pipelines import feedback

    subject = mill.key_desk.person(tenant, raw_id)
    whose = mill.store.trajectories.subjects([run]).get(run)
    if whose != (tenant, subject):
        raise NotFound(f"no trajectory {run!r} of this person; see: tidemill subject show")
    reason = "rectified by the person (GDPR Art. 16)"
    _restrict(mill, tenant, subject, reason, run=run)
    item = {
        "id": f"rectification-{mill.ids.hex(8)}", "kind": "correction", "trace_id": run.rpartition("/")[2],
        "content": right, "comment": reason, "user_id": raw_id,
    }  # fmt: skip
    told = feedback.add(mill, tenant, json.dumps(item).encode())
    if not told["ok"]:
        raise RecordError(f"the correction was not taken: {told['rejected']}; the run is used for nothing meanwhile")
    request = _done(mill, tenant, subject, RequestKind.RECTIFICATION, f"run {run} corrected and restricted")
    return {"subject": subject, "run": run, "feedback": item["id"], "request": request.id}


def restrict(mill: Mill, tenant: str, subject: str, reason: str) -> dict[str, Any]:
    """Keep a person's data and use it for nothing (GDPR Art. 18), until ``unrestrict``; again changes nothing."""
    standing = _restrictions(mill, tenant, subject)
    if standing:
        return {"subject": subject, "facts": [one.id for one in standing], "message": "is restricted already"}
    fact = _restrict(mill, tenant, subject, reason)
    request = _done(mill, tenant, subject, RequestKind.RESTRICTION, reason)
    return {"subject": subject, "facts": [fact.id], "request": request.id, "message": "restricted"}


def unrestrict(mill: Mill, tenant: str, subject: str) -> dict[str, Any]:
    """End a person's restriction; what a correction or a hold restricted stays so."""
    from pipelines.rights_facts import end_fact

    ended = [end_fact(mill, tenant, one.id, revoke=False).id for one in _restrictions(mill, tenant, subject)]
    return {"subject": subject, "ended": ended, "message": "unrestricted" if ended else "was not restricted"}


def due(mill: Mill, tenant: str | None) -> dict[str, Any]:
    """What is open and until when: requests, and weights that wait for their rebuild; ``ok``: nothing is overdue."""
    now = mill.clock.now()
    waiting = [
        _line(one.id, one.tenant_id, one.kind.value, (now, one.requested_at, one.due_at))
        for one in mill.store.requests.open()
        if tenant in {None, one.tenant_id}
    ]
    for report in mill.erasure.pending():
        if tenant in {None, report.tenant_id} and report.due_at is not None:
            since = report.requested_at or report.at
            waiting.append(_line(report.request_id, report.tenant_id, "rebuild", (now, since, report.due_at)))
    waiting += _untold(mill, tenant, now)
    waiting.sort(key=lambda line: (line["due_at"], line["id"]))
    overdue = [line["id"] for line in waiting if line["overdue"]]
    return {"open": waiting, "overdue": overdue, "ok": not overdue}


def notify(mill: Mill, request_id: str, recipient: str, *, confirmed: bool) -> dict[str, Any]:
    """Note that a recipient of an erased person's rows was told, or said that their copy is gone (GDPR Art. 19)."""
    return _notices(mill).record(mill.store.erasures.get(request_id), recipient, confirmed=confirmed).plain()


def certificate(mill: Mill, request_id: str) -> dict[str, Any]:
    """The last word on an erasure, and what is known of the copies of recipients."""
    found = mill.erasure.report(request_id)
    first = mill.store.erasures.get(request_id.removesuffix(":rebuilt"))
    return {**found.plain(), "notices": [one.plain() for one in _notices(mill).of(first)]}


def _notices(mill: Mill) -> ErasureNotices:
    from governance.erasure_notices import ErasureNotices

    return ErasureNotices(mill.store, mill.clock, mill.ids)


def _untold(mill: Mill, tenant: str | None, now: datetime) -> list[dict[str, Any]]:
    """Recipients of erased people's rows who have not been told yet."""
    found, notices = [], _notices(mill)
    for report in mill.store.erasures.list():
        if report.recipients and tenant in {None, report.tenant_id} and not report.request_id.endswith(":rebuilt"):
            times = (now, report.requested_at or report.at, report.due_at or report.at)
            untold = [one.recipient for one in notices.of(report) if one.told_at is None]
            found += [_line(report.request_id, report.tenant_id, f"notice to {name}", times) for name in untold]
    return found


def _line(id_: str, tenant: str, what: str, times: tuple[datetime, datetime, datetime]) -> dict[str, Any]:
    now, since, until = times
    return {
        "id": id_, "tenant": tenant, "kind": what, "requested_at": since.isoformat(), "due_at": until.isoformat(),
        "days_left": (until - now).days, "overdue": until <= now,
    }  # fmt: skip


def _restrict(mill: Mill, tenant: str, subject: str, reason: str, run: str | None = None) -> RightsFact:
    now = mill.clock.now()
    fact = RightsFact(
        id=mill.ids.hex(16), tenant_id=tenant, kind=FactKind.RESTRICTION, subject=subject, trajectory_id=run,
        reason=reason, valid_from=now, recorded_at=now, actor=acting().principal.name,
    )  # fmt: skip
    mill.store.rights.add_facts([fact])
    return fact


def _restrictions(mill: Mill, tenant: str, subject: str) -> list[RightsFact]:
    """The restrictions of the person as a whole that stand now, but for those of an erasure that waits for a hold."""
    standing = facts_at(mill.store.rights.facts(tenant, subject), mill.clock.now(), everything=True)
    return [
        one
        for one in standing
        if one.kind is FactKind.RESTRICTION and one.trajectory_id is None and not one.reason.startswith("erasure ")
    ]


def _done(mill: Mill, tenant: str, subject: str, kind: RequestKind, outcome: str) -> RightsRequest:
    """Record a request that was answered at once."""
    now = mill.clock.now()
    request = RightsRequest(
        id=mill.ids.hex(16), tenant_id=tenant, subject=subject, kind=kind, requested_at=now,
        due_at=now + mill.erasure.policy.term, actor=acting().principal.name, closed_at=now, outcome=outcome,
    )  # fmt: skip
    with mill.store.transaction():
        mill.store.requests.put(request)
        event = audited(mill.ids, now, tenant, f"answered_{kind.value}", f"request:{request.id}")
        mill.store.audit.append(event)
    return request
