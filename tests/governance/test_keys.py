"""Keys: born once, readable by their owner alone, refused otherwise."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from governance.errors import EpochCrossed, KeyMaterialError
from governance.keys import DerivedKeyProvider, FileKeyProvider
from governance.masking.surrogate import Surrogates
from governance.policy.epochs import require_one, united
from governance.ports.keys import KeyName
from governance.records.rights import Purpose
from governance.store import Store
from tests.governance.store_records import world
from tests.support.clock import ManualClock


def test_a_key_is_made_once_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    first = FileKeyProvider(folder).key(KeyName.SPOOL)
    assert len(first) == 32
    assert FileKeyProvider(folder).key(KeyName.SPOOL) == first
    assert FileKeyProvider(folder).key(KeyName.SUBJECT) != first
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert sorted(path.name for path in folder.iterdir()) == ["spool.key", "subject.key"]


def test_starters_that_race_agree_on_one_key(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: FileKeyProvider(folder).key(KeyName.SURROGATE), range(32)))
    assert len(found) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "keys"
    FileKeyProvider(folder).key(KeyName.BLOCK)
    (folder / "block.key").chmod(mode)
    with pytest.raises(KeyMaterialError, match=r"block\.key.*chmod 0600"):
        FileKeyProvider(folder).key(KeyName.BLOCK)


def test_an_open_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    folder.chmod(0o755)
    with pytest.raises(KeyMaterialError, match="chmod 0700"):
        FileKeyProvider(folder).key(KeyName.BLOCK)


@pytest.mark.parametrize("material", [b"", b"short", b"x" * 33])
def test_a_key_of_another_length_is_refused_and_left_alone(tmp_path: Path, material: bytes) -> None:
    folder = tmp_path / "keys"
    FileKeyProvider(folder).key(KeyName.BLOCK)
    (folder / "block.key").write_bytes(material)
    with pytest.raises(KeyMaterialError, match=r"block\.key: holds \d+ bytes"):
        FileKeyProvider(folder).key(KeyName.BLOCK)
    assert (folder / "block.key").read_bytes() == material


def test_a_linked_key_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    FileKeyProvider(folder).key(KeyName.BLOCK)
    (folder / "block.key").rename(tmp_path / "elsewhere")
    (folder / "block.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeyMaterialError, match="is a link"):
        FileKeyProvider(folder).key(KeyName.BLOCK)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(KeyMaterialError, match="file"):
        FileKeyProvider(tmp_path / "file" / "keys").key(KeyName.BLOCK)


def test_rotating_the_surrogate_key_opens_an_epoch_and_keeps_the_old_key(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    keys = FileKeyProvider(folder)
    before = Surrogates(keys, "t")
    name, subject, mention = before.make("PERSON", "Anna"), before.subject("C-1"), before.mention("PERSON", "Anna")
    assert keys.epoch(KeyName.SURROGATE) == FileKeyProvider(folder).epoch(KeyName.SURROGATE)
    material = keys.key(KeyName.SURROGATE)
    old, new = keys.rotate(KeyName.SURROGATE)
    assert old != new == FileKeyProvider(folder).epoch(KeyName.SURROGATE)
    retired = folder / f"surrogate.{old}.retired"
    assert retired.read_bytes() == material
    assert stat.S_IMODE(retired.stat().st_mode) == 0o600
    after = Surrogates(FileKeyProvider(folder), "t")
    assert after.make("PERSON", "Anna") != name
    assert (after.subject("C-1"), after.mention("PERSON", "Anna")) == (subject, mention)


def test_rotating_a_wrapping_key_changes_no_surrogate(tmp_path: Path) -> None:
    keys = FileKeyProvider(tmp_path / "keys")
    before, epoch = Surrogates(keys, "t").make("PERSON", "Anna"), keys.epoch(KeyName.SURROGATE)
    for name in set(KeyName) - {KeyName.SURROGATE, KeyName.SUBJECT}:
        keys.rotate(name)
    again = FileKeyProvider(tmp_path / "keys")
    assert Surrogates(again, "t").make("PERSON", "Anna") == before
    assert again.epoch(KeyName.SURROGATE) == epoch


def test_what_was_masked_in_two_epochs_is_never_joined() -> None:
    require_one("", "a", "here")
    require_one("a", "a", "here")
    with pytest.raises(EpochCrossed, match=r"trace 7: .* a and b"):
        require_one("a", "b", "trace 7")
    assert united(["a", "", "a"]) == "a"
    assert united(["b", united(["a", "b"])]) == "a+b" == united(["a", "b"])
    with pytest.raises(EpochCrossed):
        require_one(united(["a", "b"]), "a", "a trace over a rotation")


def test_a_world_of_a_rotated_key_stays_for_its_tasks_and_makes_room(tmp_path: Path, clock: ManualClock) -> None:
    with closing(Store.open(f"sqlite:///{tmp_path / 'epochs.db'}", clock=clock)) as store:
        ref, made, people = world("subject-0001")
        old = store.worlds.put(ref.model_copy(update={"epoch": "old"}), made, people)
        assert store.worlds.put(ref.model_copy(update={"epoch": "old"}), made, people) == old
        other = made.model_copy(update={"documents": {"policy": "another surrogate"}})
        again = ref.model_copy(update={"epoch": "new", "masked_digest": other.digest()})
        assert store.worlds.put(again, other, people) == again == store.worlds.by_source("acme", ref.source_digest)
        assert store.worlds.get(old.masked_digest, Purpose.COMPLY) == made
        assert store.worlds.get(again.masked_digest, Purpose.COMPLY) == other
        assert {one.epoch for one in store.worlds.refs("acme")} == {"old", "new"}


def test_derived_keys_follow_from_the_seed() -> None:
    one, same, other = DerivedKeyProvider("tide"), DerivedKeyProvider(b"tide"), DerivedKeyProvider("mill")
    assert one.key(KeyName.SPOOL) == same.key(KeyName.SPOOL) != other.key(KeyName.SPOOL)
    assert len({one.key(name) for name in KeyName}) == len(KeyName)
    assert one.for_tenant(KeyName.SUBJECT, "a") != one.for_tenant(KeyName.SUBJECT, "b")
    with pytest.raises(KeyMaterialError, match="empty"):
        DerivedKeyProvider("")
