"""Replaying erasures: a data home that was restored from a backup learns of what happened since.

``learn`` is what any opening of the database does: whoever the journal knows as suppressed is, what was tainted is and
answers nobody, and a request that had been broken off is open again with the deadline that it had. The certificates are
not there yet, which says that the data is. ``replay`` does the rest in every place, as the erasure did: each place
erases, what lineage named is dropped, what only a search finds is removed (its needles are written down first, sealed),
what deleting left is scrubbed. Only then come the certificates, as they were signed: one that breaks off begins anew
with the next. Nothing is searched again: the certificate says what the search found when it was made, and the audit
says that the erasure was replayed, and what each place had again.

A legal hold outranks a replay as it does an erasure. Whom one covers in the restored database stays suppressed and is
not deleted; the audit names the holds once, and the first replay after they ended erases.
"""

from __future__ import annotations

from collections.abc import Sequence

from governance.acting import audited, complying
from governance.erasure_journal import ErasureJournal, Lacking
from governance.erasure_means import ErasureMeans
from governance.erasure_rescan import surrogates_in
from governance.erasure_work import Work
from governance.ports.clock import Clock, IdFactory
from governance.ports.erasable import Erasable
from governance.rescan.needles import Needles
from governance.store import Store

REPLAYED = "erasure_replayed"
HELD = "erasure_replay_held"


def learn(journal: ErasureJournal, store: Store, clock: Clock) -> tuple[Lacking, ...]:
    """Let nothing of the people that the store lacks enter, be used or answer; whose data is still to be erased."""
    lacking = journal.lacking(store)
    for one in lacking:
        with complying(f"erasure {one.suppression.request_id}"):
            store.rights.suppress(one.suppression)
            if not one.certificates:
                store.requests.put(one.request)
            _taint(one, store, clock)
    return tuple(one for one in lacking if one.certificates)


def replay(means: ErasureMeans, store: Store, places: Sequence[Erasable], clock: Clock, ids: IdFactory) -> int:
    """Erase again, in all places, whom the store does not know as erased; how many people that were."""
    learned = () if means.journal is None else learn(means.journal, store, clock)
    lacking = tuple(one for one in learned if not _under_hold(one, store, clock, ids))
    held = []
    for one in lacking:
        with complying(f"erasure {one.request.id}"):
            held.append(_erase(one, store, places, means))
    for place in places if lacking else ():
        place.scrub()
    for one, counts in zip(lacking, held, strict=True):
        with complying(f"erasure {one.request.id}"), store.transaction():
            for report in one.certificates:
                store.erasures.put(report)
                store.requests.drop(report.request_id)
            about = (one.request.tenant_id, REPLAYED, f"erasure:{one.request.id}", {"held": counts})
            store.audit.append(audited(ids, clock.now(), *about))
        if means.work is not None:
            means.work.drop(one.request.id)
    return len(lacking)


def _under_hold(one: Lacking, store: Store, clock: Clock, ids: IdFactory) -> bool:
    """Whether a legal hold covers anything that would go; the audit has each set of holds once."""
    tenant_id, target = one.request.tenant_id, f"erasure:{one.request.id}"
    with complying(f"erasure {one.request.id}"), store.transaction():
        holds = sorted(fact.id for fact in store.rights.holds_over_erasure(tenant_id, one.request.subject, clock.now()))
        events = store.audit.list(tenant_id) if holds else ()
        told = [event.detail.get("holds") for event in events if (event.action, event.target) == (HELD, target)]
        if holds and holds not in told:
            store.audit.append(audited(ids, clock.now(), tenant_id, HELD, target, {"holds": holds}))
    return bool(holds)


def _taint(one: Lacking, store: Store, clock: Clock) -> None:
    """What the certificates name is tainted, and suspended but for as long as one lets it serve."""
    for report in one.certificates:
        reason = f"erasure {report.request_id}"
        for release in report.tainted_releases:
            store.releases.taint(release, reason)
            if report.serves_until is None or report.serves_until <= clock.now():
                store.releases.suspend(release, f"{reason}, done before the backup was restored")


def _erase(one: Lacking, store: Store, places: Sequence[Erasable], means: ErasureMeans) -> dict[str, int]:
    """What each place held again."""
    tenant_id, subject = one.suppression.tenant_id, one.suppression.subject
    needles = _needles(one, store, means)
    counts = {place.name: place.count(tenant_id, subject) for place in places}
    for place in places:
        place.erase(tenant_id, subject)
    made = [artifact.node for report in one.certificates for artifact in report.artifacts]
    for place in places:
        place.drop(made)
        place.purge(needles)
    return {name: count for name, count in sorted(counts.items()) if count}


def _needles(one: Lacking, store: Store, means: ErasureMeans) -> Needles:
    """What to look for, written down before anything is deleted."""
    work = None if means.work is None else means.work.load(one.request.id)
    if work is None:
        tenant_id, subject = one.suppression.tenant_id, one.suppression.subject
        needles = store.needles(tenant_id, subject, lambda text: surrogates_in(means, tenant_id, text))
        work = Work(needles=needles, before=())
        if means.work is not None:
            work = means.work.save(one.request.id, work)
    return work.needles
