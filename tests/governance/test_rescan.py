"""The search for what is left of a person: every container is opened, and what SQLite forgot is still found."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import sqlite3
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, quote_plus

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.rescan.needles import MOST, SHORTEST, Needles
from governance.rescan.search import Findings, holds, search

SUBJECT = "ab" * 32
WORDS = "please call Möira “back” about order <9>"
NEEDLES = Needles.of(SUBJECT, texts=[WORDS])


def zipped(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.bin", data)
    return held.getvalue()


def database(data: bytes) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
        connection.execute("INSERT INTO t (body) VALUES (?)", (data,))
        connection.commit()
        return connection.serialize()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress, "zlib": zlib.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zip": zipped,
    "sqlite": database, "two streams": lambda data: gzip.compress(b"first") + gzip.compress(data),
}  # fmt: skip
FORMS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "json": lambda text: json.dumps({"said": text}).encode(),
    "json in json": lambda text: json.dumps({"said": json.dumps([text])}).encode(),
    "utf-8 json": lambda text: json.dumps(text, ensure_ascii=False).encode(),
    "html": lambda text: f"<p>{text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')}</p>".encode(),
}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(PACKERS)), max_size=3), st.sampled_from(sorted(FORMS)), st.binary(max_size=99))
def test_a_word_is_found_however_it_is_packed(packers: list[str], form: str, around: bytes) -> None:
    data, other = around + FORMS[form](WORDS) + around, around + b"nobody's words at all" + around
    for packer in packers:
        data, other = PACKERS[packer](data), PACKERS[packer](other)
    assert holds(data, NEEDLES)
    assert not holds(other, NEEDLES)


@pytest.mark.parametrize("packer", sorted(set(PACKERS) - {"zlib", "sqlite"}))
def test_what_cannot_be_opened_is_told(packer: str) -> None:
    whole = PACKERS[packer](bytes(range(256)) * 9)
    found = search("place", [("broken", whole[: len(whole) // 2])], NEEDLES)
    assert found.total == 0
    assert found.unopened


def left(path: Path, needles: Needles = NEEDLES) -> Findings:
    return search("db", [("db", path)], needles, staying=("certificates",))


@pytest.mark.parametrize("size", [1, 300, 9000])
@pytest.mark.parametrize("packed", [False, True])
def test_a_deleted_row_is_found_in_the_page_that_it_left(tmp_path: Path, size: int, packed: bool) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, body BLOB)")
        for number in range(60):
            said = WORDS if number == 30 else f"the words of number {number} here"
            body = (said * (1 + size // len(said))).encode()
            connection.execute("INSERT INTO said (body) VALUES (?)", (zlib.compress(body, 3) if packed else body,))
        connection.commit()
        assert "db: table said" in left(path).found
        connection.execute("DELETE FROM said WHERE id BETWEEN 25 AND 35")
        connection.commit()
        gone = left(path).found
        assert gone, "the row is gone, and its bytes are not"
        assert "db: table said" not in gone
        connection.execute("VACUUM")
        assert left(path).total == 0


def test_a_write_ahead_log_is_searched(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("CREATE TABLE said (body TEXT)")
        connection.execute("INSERT INTO said VALUES (?)", (WORDS,))
        connection.commit()
        connection.execute("DELETE FROM said")
        connection.commit()
        assert "db: write-ahead log: table said" in left(path).found
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert left(path).total == 0


def test_what_may_stay_is_told_apart_by_its_table(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        for table in ("certificates", "not_certificates"):
            connection.execute(f"CREATE TABLE {table} (subject TEXT PRIMARY KEY)")
        connection.execute("INSERT INTO certificates VALUES (?)", (SUBJECT,))
        connection.commit()
        found = left(path)
        assert (found.total, found.staying) == (0, 1)
        connection.execute("INSERT INTO not_certificates VALUES (?)", (SUBJECT,))
        connection.commit()
        assert left(path).found == {"db: table not_certificates": 1}


def test_a_large_file_is_searched_across_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from governance.rescan import search as module

    monkeypatch.setattr(module, "CHUNK", 4096)
    path = tmp_path / "service.log"
    path.write_bytes(b"x" * (3 * 4096 - 9) + SUBJECT.encode() + b"y" * 9000)
    assert holds(path, NEEDLES)
    packed = tmp_path / "old.gz"
    packed.write_bytes(gzip.compress(bytes(range(256)) * 200 + SUBJECT.encode(), compresslevel=0))
    assert holds(packed, NEEDLES)


def test_needles_are_lines_long_enough_to_be_somebodys() -> None:
    made = Needles.of(SUBJECT, ["Zorbin"], ["ok", f"{'a' * SHORTEST}\nshort\n{'b' * 999}"])
    assert [len(one) for one in made.texts] == [160, SHORTEST]
    assert made.without(["a" * SHORTEST]).words == ("Zorbin", "b" * 160)
    assert len(Needles.of(SUBJECT, texts=[f"text number {n:09d}" for n in range(999)]).texts) == MOST


def tarred(data: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        entry = tarfile.TarInfo("log.gz")
        entry.size = len(packed := gzip.compress(data))
        archive.addfile(entry, io.BytesIO(packed))
    return held.getvalue()


def parquet(data: bytes, codec: str) -> bytes:
    held = io.BytesIO()
    table = pa.table({"said": [data.decode()] * 3, "raw": [gzip.compress(data)] * 3})
    pq.write_table(table, held, compression=codec, use_dictionary=False, write_statistics=False)
    return held.getvalue()


HIDDEN: dict[str, Callable[[bytes], bytes]] = {
    "gzip in tar": tarred, "gzip in tar.gz": lambda data: gzip.compress(tarred(data)),
    "zstd": lambda data: pa.compress(data * 9, "zstd", asbytes=True),
    "lz4": lambda data: pa.compress(data * 9, "lz4", asbytes=True),
    "second zlib stream": lambda data: zlib.compress(b"first") + zlib.compress(data),
    "gzip behind a script": lambda data: b"#!/bin/sh\n" + gzip.compress(data),
    "bzip2 behind a script": lambda data: b"#!/bin/sh\n" + bz2.compress(data),
    "zip behind a script": lambda data: b"#!/bin/sh\n" + zipped(data),
    "gzip, junk, gzip": lambda data: gzip.compress(b"a") + b"JUNK" + gzip.compress(data),
    "parquet with zstd": lambda data: parquet(data, "zstd"),
    "parquet with snappy": lambda data: parquet(data, "snappy"),
    "base64": lambda data: b'{"x": "' + base64.b64encode(data) + b'"}',
    "base64 in a path": lambda data: b"/ab/" + base64.urlsafe_b64encode(data),
    "base64 in lines": lambda data: base64.encodebytes(data * 3),
    "base64 of gzip": lambda data: base64.b64encode(gzip.compress(data)),
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "utf-16-be": lambda data: data.decode().encode("utf-16-be"),
    "a query": lambda data: b"GET /?q=" + quote_plus(data.decode()).encode(),
    "a path": lambda data: quote(data.decode(), safe="").lower().encode(),
}  # fmt: skip


@pytest.mark.parametrize("way", sorted(HIDDEN))
def test_a_word_is_found_where_it_is_hidden(way: str) -> None:
    looked = Needles.of(SUBJECT, ["zorbin quell"], ["please send it to harbour road 12, soon"])
    for word in looked.words:
        assert search("place", [("x", HIDDEN[way](word.encode()))], looked).total, word
    found = search("place", [("x", HIDDEN[way](b"nobody's words at all, and no more of them"))], looked)
    assert (found.total, found.unopened) == (0, ())


@pytest.mark.parametrize("mark", [b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07\x01\x00", b"%PDF-1.7", b"Salted__"])
def test_kinds_that_nothing_opens_are_named(mark: bytes) -> None:
    assert search("place", [("x", mark + bytes(99))], NEEDLES).unopened
    assert search("place", [("x.br", bytes(range(99)))], NEEDLES).unopened == ("x.br: brotli",)
    deep = WORDS.encode()
    for _ in range(9):
        deep = gzip.compress(deep)
    assert "deeper" in search("place", [("x", deep)], NEEDLES).unopened[0]


def test_a_short_sentence_of_korean_is_somebodys_and_what_is_too_much_is_counted() -> None:
    said = "저는 우울증 약을 먹어요"
    assert Needles.of(SUBJECT, texts=[said, "네 맞아요", "Yes please"]).texts == (said,)
    many = Needles.of(SUBJECT, texts=[f"text number {n:09d}" for n in range(MOST + 3)])
    assert (many.counts["texts"], many.counts["texts_left_out"]) == (MOST, 3)
    assert "texts_left_out" not in NEEDLES.counts
