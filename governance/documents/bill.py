"""The bill of a release: a CycloneDX 1.6 ML-BOM (ECMA-424) of its base, adapter, harness, context and datasets.

A small writer of the parts of the format that a release has; the tests hold it against the published JSON schema. The
serial number follows from the release and the moment, so the same bill has one name. Datasets are data components
with their Merkle root, legal bases and exclusions as properties; nobody is named.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from governance.documents.dataset_facts import DatasetFacts
from governance.documents.page import Document, section
from governance.records.release import ReleaseBundle

SPACE: Final = uuid.UUID("6f0f2a0e-6d4b-5d0b-9d0c-7d1de3a1b2c4")
Component = dict[str, Any]


def bill(bundle: ReleaseBundle, facts: Sequence[DatasetFacts], now: datetime) -> dict[str, Any]:
    """The bill as CycloneDX JSON."""
    release = bundle.release
    digest = release.digest()
    parts = _parts(bundle, facts)
    own = [one["bom-ref"] for one in parts if not one["bom-ref"].startswith("dataset:")]
    depends: list[dict[str, Any]] = [{"ref": f"release:{digest}", "dependsOn": own}]
    if release.adapter is not None:
        learned = [f"dataset:{one.root}" for one in facts]
        base = f"base:{release.base.content_digest}"
        depends.append({"ref": f"adapter:{release.adapter.content_digest}", "dependsOn": sorted([base, *learned])})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(SPACE, f'{digest} {now.isoformat()}')}",
        "version": 1,
        "metadata": {
            "timestamp": now.isoformat().replace("+00:00", "Z"),
            "component": {
                "type": "machine-learning-model",
                "bom-ref": f"release:{digest}",
                "name": release.name,
                "version": digest,
                "hashes": [_hash(digest)],
            },
        },
        "components": parts,
        "dependencies": sorted(depends, key=lambda one: str(one["ref"])),
    }


def bill_page(bundle: ReleaseBundle, facts: Sequence[DatasetFacts], now: datetime) -> Document:
    """The bill for people."""
    made = bill(bundle, facts, now)
    tables = {"data": ("dataset_versions", "dataset_lines"), "machine-learning-model": ("releases", "adapters")}
    parts = [
        (one["bom-ref"], {"name": one["name"], **_told(one.get("properties", ()))}, tables[one["type"]])
        for one in made["components"]
    ]
    head = [("serial number", made["serialNumber"], ("releases",)), ("format", "CycloneDX 1.6", ())]
    return Document(
        kind="bill",
        title=f"Bill of {bundle.release.name}",
        about=bundle.release.digest(),
        as_of=now,
        fields=(*section("Bill", head), *section("Components", parts)),
    )


def _parts(bundle: ReleaseBundle, facts: Sequence[DatasetFacts]) -> list[Component]:
    release = bundle.release
    base = _model(f"base:{release.base.content_digest}", release.base.name, release.base.content_digest, {})
    harness = _data(f"harness:{release.harness_digest}", "harness", release.harness_digest, "configuration", {})
    context = _data(f"context:{release.context_digest}", "context", release.context_digest, "configuration", {})
    parts = [base, harness, context]
    adapter = release.adapter
    if adapter is not None:
        said = {"rank": str(adapter.rank), "targetModules": ",".join(adapter.target_modules)}
        made = _model(f"adapter:{adapter.content_digest}", adapter.served_name, adapter.content_digest, said)
        refs = [{"ref": f"dataset:{one.root}"} for one in facts]
        made["modelCard"] = {"modelParameters": {"approach": {"type": "supervised"}, "datasets": refs}}
        parts.append(made)
    return parts + [_dataset(one) for one in facts]


def _dataset(facts: DatasetFacts) -> Component:
    said = {
        "merkleRoot": facts.version.merkle_root,
        "scope": facts.version.scope,
        "rows": str(len(facts.version.leaves)),
        "subjects": str(len(facts.people)),
        "policyVersion": facts.version.policy_version,
        **{f"basis.{name}": f"{one['rows']} rows, {one['iri']}" for name, one in facts.bases.items()},
        **{f"excluded.{reason}": str(count) for reason, count in facts.version.exclusions.items()},
    }
    return _data(f"dataset:{facts.root}", f"dataset {facts.root[:12]}", facts.root, "dataset", said)


def _model(ref: str, name: str, digest: str, said: Mapping[str, str]) -> Component:
    return {
        "type": "machine-learning-model",
        "bom-ref": ref,
        "name": name,
        "version": digest,
        "hashes": [_hash(digest)],
        "properties": _properties(said),
    }


def _data(ref: str, name: str, digest: str, kind: str, said: Mapping[str, str]) -> Component:
    data: dict[str, Any] = {"type": kind, "name": name}
    if kind == "dataset":
        data["classification"] = "personal data, masked"
    return {
        "type": "data",
        "bom-ref": ref,
        "name": name,
        "version": digest,
        "hashes": [_hash(digest)],
        "data": [data],
        "properties": _properties(said),
    }


def _hash(digest: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": digest}


def _properties(said: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": f"tidemill:{name}", "value": value} for name, value in said.items()]


def _told(properties: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {one["name"].removeprefix("tidemill:"): one["value"] for one in properties}
