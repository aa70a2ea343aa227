"""Anchors: a folder, or whatever fsspec reaches by a URL.

Theory. One file for each checkpoint, ``<tenant>/<number>.json``, made once and never opened for writing again. In a
folder it is written beside its name, synced, and linked to the name: ``link`` fails where the name is taken, so two
writers never mix and a crash leaves no half of a file. In an object store it is created exclusively (fsspec's mode
``xb``, which S3 does by a conditional put); that nobody can delete or replace it afterwards is for the store to promise
(an object lock, a bucket policy). What is lost or changed all the same is found by ``governance.auditing``.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from governance.errors import AnchorError
from governance.ports.anchor import Anchor

_FILE: Final = re.compile(r"([0-9]{8,})\.json")


def anchor_at(place: str) -> Anchor:
    """The anchor of a folder or of a URL."""
    return ObjectAnchor(place) if "://" in place else FolderAnchor(Path(place))


class FolderAnchor(Anchor):
    """A folder, best on another disk or machine than the database."""

    def __init__(self, folder: Path) -> None:
        """Made on first use."""
        self._folder = folder

    def put(self, tenant_id: str, number: int, data: bytes) -> None:
        """Write and sync the file, unless it stands there already."""
        path = self._folder / _folder_name(tenant_id) / _file_name(number)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
            _write(draft, data)
            try:
                path.hardlink_to(draft)
            except FileExistsError:
                _same(path.read_bytes(), data, str(path))
            finally:
                draft.unlink()
            _sync(path.parent)
        except OSError as error:
            raise AnchorError(f"{path}: the checkpoint cannot be kept ({error})") from error

    def read(self, tenant_id: str) -> dict[int, bytes]:
        """The files of the tenant's folder; what cannot be read under such a name is empty."""
        folder = self._folder / _folder_name(tenant_id)
        if not folder.is_dir():
            return {}
        named = {path: _FILE.fullmatch(path.name) for path in folder.iterdir()}
        return {int(match[1]): _content(path) for path, match in named.items() if match}

    def tenants(self) -> tuple[str, ...]:
        """The folders."""
        if not self._folder.is_dir():
            return ()
        return tuple(sorted(unquote(path.name) for path in self._folder.iterdir() if path.is_dir()))


class ObjectAnchor(Anchor):
    """A URL of fsspec: an object store, for which its package (``s3fs``, ``gcsfs``, ...) must be installed."""

    def __init__(self, url: str) -> None:
        """Nothing is opened yet.

        Raises:
            AnchorError: when no installed package knows the URL.

        """
        import fsspec

        try:
            files, root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise AnchorError(f"{url}: no installed package opens it ({error})") from error
        self._files: Any = files
        self._root = str(root).rstrip("/")

    def put(self, tenant_id: str, number: int, data: bytes) -> None:
        """Create the object, unless it stands there already."""
        folder = f"{self._root}/{_folder_name(tenant_id)}"
        path = f"{folder}/{_file_name(number)}"
        try:
            self._files.makedirs(folder, exist_ok=True)
            if self._files.exists(path):
                _same(self._files.cat_file(path), data, path)
                return
            with self._files.open(path, "xb") as file:
                file.write(data)
        except OSError as error:
            raise AnchorError(f"{path}: the checkpoint cannot be kept ({error})") from error

    def read(self, tenant_id: str) -> dict[int, bytes]:
        """The objects under the tenant's name."""
        named = {path: _FILE.fullmatch(path.rpartition("/")[2]) for path in self._list(_folder_name(tenant_id))}
        return {int(match[1]): self._files.cat_file(path) for path, match in named.items() if match}

    def tenants(self) -> tuple[str, ...]:
        """What stands under the root."""
        return tuple(sorted(unquote(path.rstrip("/").rpartition("/")[2]) for path in self._list("")))

    def _list(self, name: str) -> list[str]:
        self._files.invalidate_cache()
        try:
            return [str(path) for path in self._files.ls(f"{self._root}/{name}".rstrip("/"), detail=False)]
        except FileNotFoundError:
            return []


def _folder_name(tenant_id: str) -> str:
    return quote(tenant_id, safe="").replace(".", "%2E")


def _file_name(number: int) -> str:
    return f"{number:08d}.json"


def _same(held: bytes, data: bytes, where: str) -> None:
    if held != data:
        raise AnchorError(f"{where}: another checkpoint stands there; run: tidemill audit verify")


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # a folder, a link to nowhere
        return b""


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
