"""No read without a purpose: every public read of every repository takes one, or stands on a list with its reason.

A method that a repository gains fails here until it takes a ``purpose`` or somebody writes down why it needs none. A
method that returns nothing writes; what else writes and tells what became of it stands on the list, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from governance.acting import Acting, acts_as
from governance.errors import RoleDenied
from governance.records.principal import THE_SERVICE, Role
from governance.records.rights import PURPOSE_IRI, Purpose
from governance.store import Store, schema
from tests.governance.store_records import T0, T1, person

WRITES = "writes, and tells what became of it"
OPERATES = "what runs where, by digest and name: nothing of a person"
COUNTS = "counts, names and digests: no row of a person"
STAFF = "what staff did and who they are, by handle"
TERMS = "what was agreed with a company, or said to everybody"
DECIDES = "what decides verdicts: keyed hashes, kinds and dates, never words; every verdict reads it"
JOINS = "keyed hashes by id, for whoever stores the rest of the same trace"
MASKS = "for masking alone, which must see what it masks again; goes back where it came from"
SEALED = "sealed bytes that only their key opens, and dates"
REQUESTS = "what a person asked for and when it is due: how a request is answered, not data to work with"
EVIDENCE = "the record of what was done; persons stand in it as commitments that leave with them"
NEEDS_NONE: dict[str, tuple[str, str]] = {
    "adapters": (OPERATES, "get list state"),
    "approvals": (STAFF, "list of"),
    "assessments": (TERMS, "of"),
    "audit": (EVIDENCE, "about lines list root tenants"),
    "checkpoints": (EVIDENCE, "list lock tenants"),
    "cycles": (OPERATES, "get list"),
    "datasets": (COUNTS, "exclusions find manifest roots sources part"),
    "deployments": (OPERATES, "at current history scopes switch"),
    "erasures": (REQUESTS, "get ids list noted of_person put"),
    "feedback": (JOINS, "put runs waiting"),
    "gates": (OPERATES, "list"),
    "grades": (OPERATES, "get list"),
    "leaks": (OPERATES, "files memberships reports why_personal"),
    "ledger": (COUNTS, "lines"),
    "lineage": (COUNTS, "ancestors derived descendants edges"),
    "manifests": (
        COUNTS,
        "difference ends find list problems proof recipients span use uses version",
    ),
    "masking_lists": (STAFF, "add current history remove"),
    "notices": (TERMS, "put text"),
    "policies": (TERMS, "get history"),
    "principals": (STAFF, "any get list token tokens"),
    "pseudonymised": (EVIDENCE, "declared ever uses"),
    "quarantine": (SEALED, "destroy expire held list remove take"),
    "releases": (OPERATES, "find get list maker origin recorded_at suspended tainted"),
    "requests": (REQUESTS, "get of open put"),
    "reviews": (SEALED, "decisions list take"),
    "rights": (
        DECIDES,
        (
            "all_suppressed consents_to_join contract_at facts held holds holds_over_erasure is_suppressed "
            "state suppressed tenants"
        ),
    ),
    "row_reviews": (STAFF, "of roots"),
    "segments": (COUNTS, "done"),
    "spans": (MASKS, "assemble dirty_traces masked_otherwise merge people replace snapshot tenants"),
    "steps": (OPERATES, "get list"),
    "trajectories": (JOINS, "people subjects"),
    "worlds": (COUNTS, "by_source put refs"),
}
"""Repository to why these of its methods need no purpose."""


def methods(store: Store) -> dict[str, dict[str, inspect.Signature]]:
    """Repository to its public methods that return something."""
    found: dict[str, dict[str, inspect.Signature]] = {}
    for name, repository in vars(store).items():
        if not name.startswith("_"):
            members = inspect.getmembers(repository, inspect.ismethod)
            told = {one: inspect.signature(function) for one, function in members}
            found[name] = {
                one: signature
                for one, signature in told.items()
                if not one.startswith("_") and signature.return_annotation not in {None, "None"}
            }
    return found


def test_every_read_takes_a_purpose_or_says_why_not(store: Store) -> None:
    bare = {
        f"{repository}.{name}"
        for repository, told in methods(store).items()
        for name, signature in told.items()
        if "purpose" not in signature.parameters
    }
    listed = {f"{repository}.{name}" for repository, (_, names) in NEEDS_NONE.items() for name in names.split()}
    assert bare - listed == set(), "takes no purpose: give it one, or write down why it needs none"
    assert listed - bare == set(), "is on the list and takes a purpose, or is gone"
    assert all(reason for reason, _ in NEEDS_NONE.values())


def test_a_purpose_is_always_asked_for_and_never_assumed(store: Store) -> None:
    for told in methods(store).values():
        for name, signature in told.items():
            if "purpose" in signature.parameters:
                assert signature.parameters["purpose"].default is inspect.Parameter.empty, name


def comply_reads(store: Store) -> dict[str, Callable[[], Any]]:
    """A read for ``comply`` of each repository that takes a purpose and hands out what people did or said."""
    window, nobody, comply = (["acme"], T0, T1), "0" * 64, Purpose.COMPLY
    return {
        "rights.consent_events": lambda: store.rights.consent_events("acme", person(1), comply),
        "rights.consent_subjects": lambda: store.rights.consent_subjects("acme", comply),
        "spans.trace": lambda: store.spans.trace("acme", "a" * 32, comply),
        "trajectories.get": lambda: store.trajectories.get("acme/none", comply),
        "trajectories.list": lambda: store.trajectories.list(comply, *window),
        "trajectories.outlines": lambda: store.trajectories.outlines(comply, "acme", 3),
        "trajectories.some": lambda: store.trajectories.some(["acme/none"], comply),
        "signals.list": lambda: store.signals.list(comply, *window),
        "feedback.list": lambda: store.feedback.list(comply, *window),
        "feedback.get": lambda: store.feedback.get("acme", "none", comply),
        "worlds.get": lambda: store.worlds.get(nobody, comply),
        "patterns.list": lambda: store.patterns.list("c", comply),
        "proposals.list": lambda: store.proposals.list("c", comply),
        "tasks.list": lambda: store.tasks.list("c", comply),
        "tasks.get": lambda: store.tasks.get(nobody, comply),
        "datasets.rows": lambda: store.datasets.rows(nobody, comply),
        "datasets.row": lambda: store.datasets.row(nobody, nobody, comply),
        "grades.rollout": lambda: store.grades.rollout(nobody, nobody, comply),
    }


def test_no_repository_reads_for_comply_for_who_may_not(store: Store) -> None:
    for name, read in comply_reads(store).items():
        with acts_as(Acting(THE_SERVICE, Role.SERVICE)), pytest.raises(RoleDenied, match="comply"):
            pytest.fail(f"{name} gave {read()}")
    assert store.audit.list() == ()


@pytest.mark.parametrize("purpose", Purpose)
def test_each_purpose_has_an_iri_of_dpv(purpose: Purpose) -> None:
    assert PURPOSE_IRI[purpose].startswith(("https://w3id.org/dpv#", "https://w3id.org/dpv/ai#"))


def test_each_table_that_holds_people_says_how_they_are_found_and_how_long_it_lives() -> None:
    for name, info in schema.table_info().items():
        assert info.subject_path, name
        assert info.retention_class, name
        assert info.expiry == "expires_at" or info.expiry.removeprefix("none: "), name
