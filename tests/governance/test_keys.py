"""Keys: born once, readable by their owner alone, refused otherwise."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from governance.errors import KeyMaterialError
from governance.keys import DerivedKeyProvider, FileKeyProvider
from governance.ports.keys import KeyName


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


def test_derived_keys_follow_from_the_seed() -> None:
    one, same, other = DerivedKeyProvider("tide"), DerivedKeyProvider(b"tide"), DerivedKeyProvider("mill")
    assert one.key(KeyName.SPOOL) == same.key(KeyName.SPOOL) != other.key(KeyName.SPOOL)
    assert len({one.key(name) for name in KeyName}) == len(KeyName)
    assert one.for_tenant(KeyName.SUBJECT, "a") != one.for_tenant(KeyName.SUBJECT, "b")
    with pytest.raises(KeyMaterialError, match="empty"):
        DerivedKeyProvider("")
