"""The folder of adapters: names, faults, and what becomes of them when a person goes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from governance.records.erasure import ArtifactState
from training.adapters import CONFIG, PROBE, SOURCES, WEIGHTS, AdapterShelf, content_digest, normalised_config
from training.errors import AdapterFault

ANNA, BEN = ("t", "anna"), ("t", "ben")


def fill(folder: Path, b: float = 0.5, people: tuple[tuple[str, str], ...] = (ANNA,), rank: int = 2) -> Path:
    folder.mkdir(parents=True)
    tensors = {
        "m.lora_A.weight": np.ones((rank, 3), dtype=np.float32),
        "m.lora_B.weight": np.full((3, rank), b, dtype=np.float32),
    }
    save_file(tensors, folder / WEIGHTS)
    raw = {"r": rank, "target_modules": ["v_proj", "q_proj"], "base_model_name_or_path": str(folder)}
    (folder / CONFIG).write_text(json.dumps(normalised_config(raw, "base")))
    (folder / PROBE).write_text("{}")
    (folder / SOURCES).write_text(json.dumps(people))
    return folder


@pytest.fixture
def shelf(tmp_path: Path) -> AdapterShelf:
    return AdapterShelf(tmp_path / "adapters", lambda digest: False)


def test_equal_adapters_have_one_name_wherever_they_were_made(shelf: AdapterShelf, tmp_path: Path) -> None:
    one = shelf.publish(fill(shelf.folder / "work" / "a"))
    again = shelf.publish(fill(shelf.folder / "work" / "elsewhere", people=(BEN,)))
    assert one == again == content_digest(shelf.path(one))
    assert shelf.people(one) == (ANNA, BEN)
    assert shelf.publish(fill(shelf.folder / "work" / "b", b=0.25)) != one
    assert sorted(path.name for path in (shelf.folder / "work").iterdir()) == []


def test_the_order_in_the_file_is_not_in_the_name(tmp_path: Path) -> None:
    first = fill(tmp_path / "a")
    second = fill(tmp_path / "b")
    data = (second / WEIGHTS).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.dumps({"__metadata__": {"format": "pt"}, **dict(reversed(json.loads(data[8 : 8 + size]).items()))})
    (second / WEIGHTS).write_bytes(len(header).to_bytes(8, "little") + header.encode() + data[8 + size :])
    assert content_digest(first) == content_digest(second)


@pytest.mark.parametrize(
    ("b", "said"), [(0.0, "changes nothing"), (float("nan"), "not finite"), (np.inf, "not finite")]
)
def test_sft_02_an_empty_or_broken_adapter_gets_no_name(shelf: AdapterShelf, b: float, said: str) -> None:
    with pytest.raises(AdapterFault, match=said):
        shelf.publish(fill(shelf.folder / "work" / "a", b=b))
    assert [one for one in shelf.folder.iterdir() if one.name != "work"] == []


def test_changed_weights_are_not_the_adapter_of_that_name(shelf: AdapterShelf) -> None:
    digest = shelf.publish(fill(shelf.folder / "work" / "a"))
    save_file({"m.lora_B.weight": np.ones((3, 2), dtype=np.float32)}, shelf.folder / digest / WEIGHTS)
    with pytest.raises(AdapterFault, match="not the one"):
        shelf.path(digest)
    (shelf.folder / digest / WEIGHTS).write_bytes(b"torn")
    with pytest.raises(AdapterFault, match="not an adapter"):
        shelf.path(digest)
    with pytest.raises(AdapterFault, match="not an adapter"):
        shelf.path("0" * 64)


def test_erasure_removes_trainings_and_adapters_of_the_person_and_no_others(shelf: AdapterShelf) -> None:
    hers = shelf.publish(fill(shelf.folder / "work" / "a"))
    his = shelf.publish(fill(shelf.folder / "work" / "b", b=0.1, people=(BEN,)))
    fill(shelf.folder / "work" / "running", people=(ANNA, BEN))
    assert shelf.count(*ANNA) == 2
    ended = shelf.erase(*ANNA)
    assert {(one.node.id, one.state) for one in ended} == {
        (hers, ArtifactState.DELETED), ("work/running", ArtifactState.DELETED)
    }  # fmt: skip
    assert (shelf.count(*ANNA), shelf.count(*BEN)) == (0, 1)
    assert shelf.path(his)
    assert shelf.erase(*ANNA) == ()
    assert "anna" not in "".join(p.read_text(errors="ignore") for p in shelf.folder.rglob("*") if p.is_file())


def test_an_adapter_in_service_waits_for_its_rebuild(tmp_path: Path) -> None:
    serving: set[str] = set()
    shelf = AdapterShelf(tmp_path / "adapters", serving.__contains__)
    digest = shelf.publish(fill(shelf.folder / "work" / "a", people=(ANNA, BEN)))
    serving.add(digest)
    (ended,) = shelf.erase(*ANNA)
    assert ended.state is ArtifactState.PENDING_REBUILD
    assert shelf.people(digest) == (BEN,)
    assert shelf.path(digest)
    with pytest.raises(AdapterFault, match="in service"):
        shelf.discard(digest)
    serving.clear()
    shelf.discard(digest)
    shelf.discard(digest)
    assert not (shelf.folder / digest).exists()


def test_trainings_nobody_took_up_again_are_swept(shelf: AdapterShelf) -> None:
    fill(shelf.folder / "work" / "left")
    now = datetime.now(UTC)
    assert shelf.sweep(now - timedelta(days=2)) == 0
    assert shelf.sweep(now + timedelta(days=2)) == 1
    assert shelf.count(*ANNA) == 0
    assert (shelf.name, shelf.claims) == ("adapters", frozenset({"adapters"}))
