"""The audit as evidence: what it holds, and that nothing can be done to it unseen."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import ColumnElement, Connection, Text, create_engine, delete, select, text, type_coerce, update

from governance.anchors import FolderAnchor, ObjectAnchor, anchor_at
from governance.auditing import Auditing
from governance.errors import AnchorError, NotFound
from governance.keys import DerivedKeyProvider, FileKeyProvider
from governance.policy.audit_chain import START, link
from governance.policy.audit_terms import PREFIX
from governance.ports.anchor import Anchor
from governance.ports.keys import KeyName
from governance.records.audit import AuditEvent
from governance.records.checkpoint import FaultKind
from governance.records.rights import Suppression
from governance.signing import public_key
from governance.store import Store
from governance.store.base import dump_json
from governance.store.tables_audit import AuditHeadRow, AuditRow, AuditSaltRow, CheckpointRow
from tests.governance.store_records import T1, person
from tests.support.clock import ManualClock

KEYS = DerivedKeyProvider("audit")
TENANT = "acme"


def event(number: int, **over: object) -> AuditEvent:
    fields = {"id": f"e{number}", "tenant_id": TENANT, "actor": "r-17", "role": "reviewer", "action": "look"}
    return AuditEvent.model_validate(fields | {"target": "signals", "detail": {"n": number}, "at": T1} | over)


@pytest.fixture
def anchor(tmp_path: Path) -> FolderAnchor:
    return FolderAnchor(tmp_path / "anchor")


@pytest.fixture
def auditing(store: Store, anchor: FolderAnchor, clock: ManualClock) -> Auditing:
    return Auditing(store, anchor, KEYS, clock)


@pytest.fixture
def raw(database_url: str) -> Iterator[Callable[[Callable[[Connection], object]], None]]:
    """Somebody who writes to the database past the store."""
    engine = create_engine(database_url.replace("postgresql://", "postgresql+psycopg://"))

    def write(work: Callable[[Connection], object]) -> None:
        with engine.begin() as connection:
            work(connection)

    yield write
    engine.dispose()


def fill(store: Store, number: int, first: int = 1) -> None:
    with store.transaction():
        for one in range(first, first + number):
            store.audit.append(event(one))


# What is in it


def test_what_speaks_of_people_is_a_commitment_whose_salt_leaves_with_them(
    store: Store, auditing: Auditing, raw: Callable[[Callable[[Connection], object]], None]
) -> None:
    anna, trace = person(1), "a" * 32
    detail = {
        "subject": anna, "why": "Ms Example called", "rows": ["b" * 64], anna: 3, "states": {"deleted": 2}, "ok": True,
    }  # fmt: skip
    store.audit.append(event(1, target=f"subject:{TENANT}/{anna}", detail=detail))
    store.audit.append(event(2, target=f"trace:{trace}"))
    store.audit.append(event(3, target=f"{anna} looked"))
    store.audit.append(event(4, target="release:0f3a", detail={"subject": person(2)}))
    told = "".join(one.model_dump_json() for one in store.audit.list(TENANT))
    assert not any(secret in told for secret in (anna, "Example", trace, "b" * 64, person(2)))
    first, _, _, last = store.audit.list(TENANT)
    assert first.detail["states"] == {"deleted": 2}
    assert (first.actor, first.role, first.action, first.detail["ok"]) == ("r-17", "reviewer", "look", True)
    assert first.target == f"subject:{first.detail['subject']}", "one person has one commitment"
    assert last.target == "release:0f3a"
    assert [one.id for one in store.audit.about(TENANT, anna)] == ["e1"]
    store.rights.suppress(Suppression(tenant_id=TENANT, subject=anna, since=T1, request_id="r"))
    store.erasable().erase(TENANT, anna)
    raw(lambda connection: _no_salt(connection, anna))
    store.audit.append(event(5, detail={"subject": anna}))
    assert store.audit.about(TENANT, anna) == ()
    assert store.erasable().count(TENANT, anna) == 0
    again = store.audit.list(TENANT)[-1].detail["subject"]
    assert again.startswith(PREFIX)
    assert again != first.detail["subject"]
    assert auditing.verify() == ()


def _no_salt(connection: Connection, subject: str) -> None:
    assert connection.scalars(select(AuditSaltRow.salt).where(AuditSaltRow.subject == subject)).all() == []


def test_commitments_of_one_tenant_say_nothing_of_another_s(store: Store) -> None:
    store.audit.append(event(1, detail={"subject": person(1)}))
    store.audit.append(event(2, tenant_id="bolt", detail={"subject": person(1)}))
    assert len({one.detail["subject"] for one in store.audit.list()}) == 2


# Its order


def test_a_clock_that_goes_back_changes_no_order(store: Store, auditing: Auditing, clock: ManualClock) -> None:
    for number in range(1, 4):
        store.audit.append(event(number, at=T1 - timedelta(days=number)))
        clock.set(T1 - timedelta(days=number))
        auditing.checkpoint()
    assert [one.id for one in store.audit.list(TENANT)] == ["e1", "e2", "e3"]
    assert [held.number for held in store.checkpoints.list(TENANT)] == [1, 2, 3]
    assert auditing.verify() == ()


def test_writers_and_checkpoints_side_by_side(
    database_url: str, store: Store, anchor: FolderAnchor, clock: ManualClock
) -> None:
    others = [Store.open(database_url, clock=clock) for _ in range(3)]

    def work(mine: Store, first: int) -> None:
        for number in range(first, first + 8):
            mine.audit.append(event(number))
            if number % 4 == 0:
                Auditing(mine, anchor, KEYS, clock).checkpoint()

    threads = [threading.Thread(target=work, args=(one, 100 * place)) for place, one in enumerate(others, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    auditing = Auditing(store, anchor, KEYS, clock)
    auditing.checkpoint()
    assert store.audit.root(TENANT).size == 24
    assert auditing.verify() == ()
    for one in others:
        one.close()


# Whoever writes to the database


@pytest.fixture
def chained(store: Store, auditing: Auditing) -> Auditing:
    """Twelve events, checkpoints at six and ten."""
    fill(store, 6)
    auditing.checkpoint()
    fill(store, 4, 7)
    auditing.checkpoint()
    fill(store, 2, 11)
    assert auditing.verify() == ()
    return auditing


Change = Callable[[Connection], object]


def _at(position: int) -> tuple[ColumnElement[bool], ...]:
    return (AuditRow.tenant_id == TENANT, AuditRow.position == position)


def _body(connection: Connection, position: int) -> dict[str, object]:
    body = connection.scalar(select(AuditRow.body).where(*_at(position)))
    assert isinstance(body, dict)
    return body


def _set(position: int, **values: object) -> Change:
    return lambda connection: connection.execute(update(AuditRow).where(*_at(position)).values(**values))


def _edit(connection: Connection) -> None:
    _set(4, body=_body(connection, 4) | {"actor": "nobody"})(connection)


def _swap(connection: Connection) -> None:
    columns = [AuditRow.id, AuditRow.at, AuditRow.body, AuditRow.chain]
    rows = {place: connection.execute(select(*columns).where(*_at(place))).mappings().one() for place in (3, 8)}
    _set(3, id="away")(connection)
    _set(8, **rows[3])(connection)
    _set(3, **rows[8])(connection)


def _spaces(connection: Connection) -> None:
    text = json.dumps(_body(connection, 5))
    connection.execute(update(AuditRow).where(*_at(5)).values(body=type_coerce(text, Text)))


def _take_out(connection: Connection) -> None:
    """And close the gap."""
    connection.execute(delete(AuditRow).where(*_at(7)))
    for position in range(8, 13):
        connection.execute(update(AuditRow).where(*_at(position)).values(position=position - 1))


def _write_anew(connection: Connection) -> None:
    """The whole chain, without its third event, every link and the head as they should be."""
    columns = (AuditRow.id, AuditRow.at, AuditRow.body)
    statement = select(*columns).where(AuditRow.tenant_id == TENANT).order_by(AuditRow.position)
    kept = [dict(one) for one in connection.execute(statement).mappings()]
    connection.execute(delete(AuditRow))
    root = START.root
    for place, one in enumerate([*kept[:2], *kept[3:]], 1):
        root = link(root, one["body"])
        row = one | {"tenant_id": TENANT, "position": place, "chain": root}
        connection.execute(AuditRow.__table__.insert(), [row])  # type: ignore[attr-defined]
    connection.execute(update(AuditHeadRow).values(size=len(kept) - 1, root=root))


CHANGES: dict[str, tuple[Change, FaultKind, int]] = {
    "an edit": (_edit, FaultKind.CHANGED, 4),
    "another id": (_set(4, id="x"), FaultKind.CHANGED, 4),
    "another time": (_set(4, at=T1 + timedelta(days=1)), FaultKind.CHANGED, 4),
    "another link": (_set(4, chain="1" * 64), FaultKind.CHANGED, 4),
    "no event": (_set(4, body="gone"), FaultKind.CHANGED, 4),
    "other spaces": (_spaces, FaultKind.CHANGED, 5),
    "a swap": (_swap, FaultKind.CHANGED, 3),
    "a deletion": (lambda connection: connection.execute(delete(AuditRow).where(*_at(7))), FaultKind.MISSING, 7),
    "a deletion, closed": (_take_out, FaultKind.CHANGED, 7),
    "the first gone": (lambda connection: connection.execute(delete(AuditRow).where(*_at(1))), FaultKind.MISSING, 1),
    "the last gone": (lambda connection: connection.execute(delete(AuditRow).where(*_at(12))), FaultKind.TRUNCATED, 12),
    "all gone": (lambda connection: connection.execute(delete(AuditRow)), FaultKind.TRUNCATED, 1),
    "another tenant's": (_set(12, tenant_id="bolt"), FaultKind.TRUNCATED, 12),
    "another head": (
        lambda connection: connection.execute(update(AuditHeadRow).values(root="1" * 64)),
        FaultKind.CHANGED,
        12,
    ),
    "no head": (lambda connection: connection.execute(delete(AuditHeadRow)), FaultKind.CHANGED, 12),
    "written anew": (_write_anew, FaultKind.REPLACED, 6),
}


def test_every_kind_of_change_is_found_where_it_is(chained: Auditing, raw: Callable[[Change], None]) -> None:
    tables: list[Any] = [AuditRow.__table__, AuditHeadRow.__table__]
    saved: dict[str, list[dict[str, object]]] = {}

    def save(connection: Connection) -> None:
        saved.update({t.name: [dict(one) for one in connection.execute(select(t)).mappings()] for t in tables})

    def restore(connection: Connection) -> None:
        for table in tables:
            connection.execute(table.delete())
            connection.execute(table.insert(), saved[table.name])

    raw(save)
    for name, (change, kind, position) in CHANGES.items():
        raw(change)
        found = [(fault.kind, fault.position) for fault in chained.verify() if fault.tenant_id == TENANT]
        assert found[0] == (kind, position), name
        raw(restore)
        assert chained.verify() == (), name


RAW: dict[str, tuple[str, FaultKind, int]] = {
    "a time that is none": ("UPDATE audit_events SET at='garbage' WHERE position=4", FaultKind.CHANGED, 4),
    "a position that is no number": ("UPDATE audit_events SET position='x' WHERE position=4", FaultKind.MISSING, 4),
    "a body of bytes": ("UPDATE audit_events SET body=x'00ff' WHERE position=4", FaultKind.CHANGED, 4),
    "a link of bytes": ("UPDATE audit_events SET chain=x'00ff' WHERE position=4", FaultKind.CHANGED, 4),
    "a head that is no number": ("UPDATE audit_heads SET size='x'", FaultKind.CHANGED, 12),
    "a checkpoint of bytes": ("UPDATE audit_checkpoints SET signed=x'00ff' WHERE number=1",
                              FaultKind.CHECKPOINT_CHANGED, 1),
    "a time of its anchor that is none": ("UPDATE audit_checkpoints SET anchored_at='x', number='y' WHERE number=1",
                                          FaultKind.CHECKPOINT_LOST, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
def test_what_no_column_can_hold_is_named_and_hides_nothing_else(
    chained: Auditing, raw: Callable[[Change], None], store: Store, database_url: str, name: str
) -> None:
    if not database_url.startswith("sqlite"):
        pytest.skip("PostgreSQL's columns hold nothing but what they are of")
    statement, kind, position = RAW[name]
    for number in range(3):
        store.audit.append(event(100 + number, tenant_id="other"))
    other = "UPDATE audit_events SET id='x' WHERE tenant_id='other' AND position=1"
    raw(lambda connection: connection.execute(text(other)))
    raw(
        lambda connection: connection.execute(
            text(f"{statement} {'AND' if 'WHERE' in statement else 'WHERE'} tenant_id='{TENANT}'")
        )
    )
    found = [(one.tenant_id, one.kind, one.position) for one in chained.verify()]
    assert (TENANT, kind, position) in found
    assert {position for tenant, _, position in found if tenant == "other"} >= {1}


def test_a_folder_in_the_place_of_a_checkpoint_is_named(chained: Auditing, tmp_path: Path) -> None:
    (tmp_path / "anchor" / TENANT / "00000003.json").mkdir()
    found = {(one.kind, one.position) for one in chained.verify()}
    assert (FaultKind.CHECKPOINT_CHANGED, 3) in found


def test_a_tenant_that_is_not_known_is_no_whole_chain(chained: Auditing) -> None:
    with pytest.raises(NotFound, match="nosuch"):
        chained.verify("nosuch")


def test_a_chain_cut_off_with_its_head_is_found_by_its_checkpoint(
    chained: Auditing, raw: Callable[[Change], None]
) -> None:
    def cut(connection: Connection) -> None:
        connection.execute(delete(AuditRow).where(AuditRow.position > 8))
        root = connection.scalar(select(AuditRow.chain).where(*_at(8)))
        connection.execute(update(AuditHeadRow).values(size=8, root=root))

    raw(cut)
    (fault,) = chained.verify()
    assert (fault.kind, fault.position) == (FaultKind.TRUNCATED, 9)
    assert "checkpoint 2 is of 10" in fault.detail


def test_a_database_that_was_made_anew_is_missed_by_the_anchor(
    chained: Auditing, raw: Callable[[Change], None]
) -> None:
    for table in (AuditRow, AuditHeadRow, CheckpointRow):
        raw(lambda connection, table=table: connection.execute(delete(table)))  # type: ignore[misc]
    found = {fault.kind for fault in chained.verify()}
    assert found == {FaultKind.TRUNCATED, FaultKind.CHECKPOINT_LOST}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(1, 12), act=st.sampled_from(["edit", "delete", "link"]))
def test_in_the_database_too(chained: Auditing, raw: Callable[[Change], None], place: int, act: str) -> None:
    saved: dict[str, object] = {}

    def change(connection: Connection) -> None:
        saved.update(connection.execute(select(*AuditRow.__table__.columns).where(*_at(place))).mappings().one())
        if act == "delete":
            connection.execute(delete(AuditRow).where(*_at(place)))
        else:
            body = _body(connection, place)
            values = {"body": body | {"role": "x"}} if act == "edit" else {"chain": "f" * 64}
            connection.execute(update(AuditRow).where(*_at(place)).values(**values))

    def back(connection: Connection) -> None:
        connection.execute(delete(AuditRow).where(*_at(place)))
        connection.execute(AuditRow.__table__.insert(), [saved])  # type: ignore[attr-defined]

    raw(change)
    assert chained.verify() != ()
    raw(back)
    assert chained.verify() == ()


# Whoever writes to the anchor


def _file(anchor: FolderAnchor, tmp_path: Path, number: int) -> Path:
    path = tmp_path / "anchor" / TENANT / f"{number:08d}.json"
    assert path.is_file()
    return path


def test_a_checkpoint_that_was_edited_or_lost_is_found(chained: Auditing, anchor: FolderAnchor, tmp_path: Path) -> None:
    path = _file(anchor, tmp_path, 1)
    saved = path.read_bytes()
    value = json.loads(saved)
    value["checkpoint"]["size"] = 5
    for data in (dump_json(value).encode(), b"{}", saved + b"\n"):
        path.unlink()
        path.write_bytes(data)
        assert next((f.kind, f.position) for f in chained.verify()) == (FaultKind.CHECKPOINT_CHANGED, 1)
    path.unlink()
    assert [(f.kind, f.position) for f in chained.verify()] == [(FaultKind.CHECKPOINT_LOST, 1)]
    path.write_bytes(saved)
    newest = _file(anchor, tmp_path, 2)
    newest.unlink()
    assert [(f.kind, f.position) for f in chained.verify()] == [(FaultKind.CHECKPOINT_LOST, 2)]
    newest.write_bytes(saved)
    assert FaultKind.CHECKPOINT_CHANGED in {f.kind for f in chained.verify()}, "the first in the place of the second"


def test_a_checkpoint_by_another_key_counts_for_nothing(
    chained: Auditing, store: Store, anchor: FolderAnchor, clock: ManualClock
) -> None:
    others = DerivedKeyProvider("others")
    stranger = Auditing(store, anchor, others, clock)
    assert {fault.kind for fault in stranger.verify()} == {FaultKind.CHECKPOINT_CHANGED}
    assert stranger.verify(trusted=[public_key(KEYS)]) == ()


def test_a_rotated_key_still_proves_what_it_signed(
    store: Store, anchor: FolderAnchor, clock: ManualClock, tmp_path: Path
) -> None:
    keys = FileKeyProvider(tmp_path / "keys")
    auditing = Auditing(store, anchor, keys, clock)
    fill(store, 2)
    auditing.checkpoint()
    keys.rotate(KeyName.SIGNING)
    fill(store, 2, 3)
    auditing.checkpoint()
    assert auditing.verify() == ()


# Making checkpoints


class Failing(FolderAnchor):
    """Takes nothing while it fails."""

    fails = True

    def put(self, tenant_id: str, number: int, data: bytes) -> None:
        if self.fails:
            raise AnchorError("no room")
        super().put(tenant_id, number, data)


def test_what_a_crash_kept_from_its_anchor_gets_there_the_next_time(
    store: Store, clock: ManualClock, tmp_path: Path
) -> None:
    anchor = Failing(tmp_path / "anchor")
    auditing = Auditing(store, anchor, KEYS, clock)
    fill(store, 3)
    with pytest.raises(AnchorError):
        auditing.checkpoint()
    assert auditing.verify() == (), "not anchored yet is not lost"
    anchor.fails = False
    assert auditing.checkpoint() == (), "nothing new"
    assert sorted(anchor.read(TENANT)) == [1]
    assert auditing.verify() == ()


def test_a_chain_that_has_not_grown_gets_no_new_checkpoint(store: Store, auditing: Auditing) -> None:
    assert auditing.checkpoint() == ()
    fill(store, 3)
    (made,) = auditing.checkpoint()
    assert (made.number, made.size, made.root) == (1, 3, store.audit.root(TENANT).root)
    assert auditing.checkpoint() == ()
    assert auditing.checkpoint("bolt") == ()


@pytest.fixture(params=["folder", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Anchor:
    return anchor_at(str(tmp_path / "a") if request.param == "folder" else f"memory://{tmp_path.name}/a")


def test_an_anchor_keeps_what_it_was_given(place: Anchor) -> None:
    assert (place.tenants(), place.read("x")) == ((), {})
    names = ("acme", "../up", "a/b", "..", "k\u00f6")
    for name in names:
        place.put(name, 1, b"one")
        place.put(name, 1, b"one")
        place.put(name, 2, b"two")
        with pytest.raises(AnchorError, match="another checkpoint"):
            place.put(name, 1, b"other")
        assert place.read(name) == {1: b"one", 2: b"two"}
    assert place.tenants() == tuple(sorted(names))


def test_an_anchor_that_cannot_be_reached_says_so(tmp_path: Path) -> None:
    with pytest.raises(AnchorError, match="nosuch"):
        ObjectAnchor("nosuch://bucket/a")
    (tmp_path / "file").write_text("x")
    with pytest.raises(AnchorError, match="cannot be kept"):
        FolderAnchor(tmp_path / "file").put("a", 1, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("forgotten", [1, 2])
def test_a_checkpoint_is_excused_from_its_anchor_only_while_no_later_one_is_there(
    chained: Auditing, raw: Callable[[Change], None], tmp_path: Path, forgotten: int
) -> None:
    (tmp_path / "anchor" / TENANT / f"{forgotten:08d}.json").unlink()
    row = CheckpointRow
    raw(lambda connection: connection.execute(update(row).where(row.number == forgotten).values(anchored_at=None)))
    found = [(one.kind, one.position) for one in chained.verify()]
    assert found == ([(FaultKind.CHECKPOINT_LOST, 1)] if forgotten == 1 else [])
