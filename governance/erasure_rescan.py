"""What an erasure looks for, and what the same search finds before it and after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from governance.erasure_means import ErasureMeans
from governance.erasure_work import Before, Work
from governance.ports.erasable import Erasable
from governance.records.erasure import ErasureRecipient, SearchedPlace
from governance.records.rights_request import RightsRequest
from governance.rescan.search import search
from governance.store import Store
from governance.store.findings import STAYING


class ErasureRescan:
    """Searches every place."""

    def __init__(self, store: Store, places: Sequence[Erasable], means: ErasureMeans) -> None:
        """``places`` are all, the store's own among them."""
        self._store, self._places, self._means = store, places, means

    def look(self, asked: RightsRequest) -> Work:
        """What to look for and what is there now: written down before anything is deleted."""
        work = None if self._means.work is None else self._means.work.load(asked.id)
        if work is None:
            tenant, means = asked.tenant_id, self._means
            needles = self._store.needles(tenant, asked.subject, lambda text: surrogates_in(means, tenant, text))
            before = [
                Before(
                    place=place.name,
                    held=place.count(asked.tenant_id, asked.subject),
                    found=search(place.name, place.contents(), needles, STAYING).total,
                )
                for place in self._places
            ]
            given = tuple(
                ErasureRecipient(recipient=one.recipient, dataset=one.root, rows=one.rows, at=one.at)
                for one in self._store.manifests.recipients(asked.tenant_id, asked.subject)
            )
            work = Work(needles=needles, before=tuple(before), recipients=given)
            if self._means.work is not None:
                work = self._means.work.save(asked.id, work)
        self._means.reached("looked")
        return work

    def again(self, asked: RightsRequest, work: Work) -> tuple[SearchedPlace, ...]:
        """What is left, beside what there was."""
        before = {one.place: one for one in work.before}
        found = tuple(self._searched(place, asked, work, before.get(place.name)) for place in self._places)
        self._means.reached("searched")
        return found

    def _searched(self, place: Erasable, asked: RightsRequest, work: Work, before: Before | None) -> SearchedPlace:
        found = search(place.name, place.contents(), work.needles, STAYING)
        return SearchedPlace(
            place=place.name,
            held_before=0 if before is None else before.held,
            found_before=0 if before is None else before.found,
            held_after=place.count(asked.tenant_id, asked.subject),
            found_after=found.total,
            staying=found.staying,
            unopened=found.unopened,
        )


def surrogates_in(means: ErasureMeans, tenant_id: str, text: str) -> Iterable[str]:
    """What stands in a text for somebody's values."""
    if means.surrogates is None:
        return ()
    return [text[one.start : one.end] for one in means.surrogates.places(tenant_id, text)]
