"""Documents of a data home: of a dataset version, a release, a tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance.documents.bill import bill, bill_page
from governance.documents.dataset_card import dataset_card
from governance.documents.dataset_facts import DatasetFacts
from governance.documents.processing_record import processing_record
from governance.documents.provenance import provenance
from governance.documents.training_summary import training_summary
from governance.errors import NotFound
from governance.records.lineage import NodeKind
from governance.store.lineage import node

if TYPE_CHECKING:
    from governance.documents.page import Document
    from governance.records.release import ReleaseBundle
    from pipelines.ground import Ground

OF_DATASET: Final = {"dataset-card": dataset_card, "provenance": provenance}
OF_RELEASE: Final = {"training-summary": training_summary, "bill": bill_page}


def of_dataset(ground: Ground, kind: str, beginning: str) -> Document:
    """A document of the one dataset version whose root begins so.

    Raises:
        NotFound: when there is none, or more than one.

    """
    root = ground.store.manifests.find(beginning).root
    return OF_DATASET[kind](DatasetFacts(ground.store, ground.clock, root))


def of_release(ground: Ground, kind: str, beginning: str) -> Document:
    """A document of the one release whose digest begins so.

    Raises:
        NotFound: when there is none, or more than one.

    """
    bundle = _release(ground, beginning)
    return OF_RELEASE[kind](bundle, _facts(ground, bundle), ground.clock.now())


def bill_of(ground: Ground, beginning: str) -> dict[str, Any]:
    """The bill of a release as CycloneDX JSON.

    Raises:
        NotFound: when there is no such release, or more than one.

    """
    bundle = _release(ground, beginning)
    return bill(bundle, _facts(ground, bundle), ground.clock.now())


def everything(ground: Ground, beginning: str) -> list[Document]:
    """Summary and bill of a release, card and provenance of each dataset version that its adapter learned from.

    Raises:
        NotFound: when there is no such release, or more than one.

    """
    bundle = _release(ground, beginning)
    facts, now = _facts(ground, bundle), ground.clock.now()
    made = [write(bundle, facts, now) for write in OF_RELEASE.values()]
    return made + [write(one) for one in facts for write in OF_DATASET.values()]


def of_tenant(ground: Ground, tenant: str) -> Document:
    """The record of processing of a tenant."""
    return processing_record(ground.store, tenant, ground.clock.now())


def _release(ground: Ground, beginning: str) -> ReleaseBundle:
    held = [one for one in ground.store.releases.list() if beginning and one.release.digest().startswith(beginning)]
    if len(held) != 1:
        raise NotFound(f"{len(held)} releases begin with {beginning!r}; see: tidemill release list")
    return held[0]


def _facts(ground: Ground, bundle: ReleaseBundle) -> list[DatasetFacts]:
    """Of each dataset version that the release's adapter learned from."""
    adapter = bundle.release.adapter
    if adapter is None:
        return []
    made_from = ground.store.lineage.ancestors(node(NodeKind.ADAPTER, adapter.content_digest))
    known = {one.root for one in ground.store.manifests.list()}
    roots = sorted({one.id for one in made_from if one.kind is NodeKind.DATASET and one.id in known})
    return [DatasetFacts(ground.store, ground.clock, root) for root in roots]
