"""The files of an archive, from a folder or from one zip, read by name and never by path.

Names come from names.py alone; a link inside the folder is not followed out of it.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import IO, BinaryIO, Protocol

from snapcompact.archive.names import MANIFEST
from snapcompact.errors import ArchiveError, DiskError


class Store(Protocol):
    """Files of an archive by name."""

    where: str
    """For messages: the path given by the user."""

    def open(self, name: str) -> BinaryIO:
        """The file `name`, seekable. Raises ArchiveError if it is missing or no plain file."""
        ...

    def size(self, name: str) -> int:
        """Bytes of the file `name`. Raises ArchiveError as :meth:`open`."""
        ...

    def has(self, name: str) -> bool:
        """Whether the file `name` is there."""
        ...

    def close(self) -> None:
        """Release what is held open."""
        ...


def open_store(path: Path) -> Store:
    """The store at `path`.

    Raises DiskError if nothing is there, ArchiveError if it is neither a folder nor a zip with a
    manifest.
    """
    if path.is_dir():
        if not (path / MANIFEST).is_file():
            raise ArchiveError(
                f"{path} is no archive: it holds no {MANIFEST} "
                "(lone pages are read by `snapcompact read`)"
            )
        return FolderStore(path)
    if not path.exists():
        raise DiskError(f"cannot read {path}: it does not exist")
    if not path.is_file():
        raise ArchiveError(f"{path} is neither a folder nor a file")
    try:
        return ZipStore(path)
    except zipfile.BadZipFile as exc:
        raise ArchiveError(f"{path} is neither an archive's folder nor a zip: {exc}") from exc


def read_file(store: Store, name: str, limit: int) -> bytes:
    """All bytes of `name`; ArchiveError, before any allocation, where it is over `limit`."""
    size = store.size(name)
    if size > limit:
        raise ArchiveError(f"{store.where}: {name} has {size:,} bytes, over the limit of {limit:,}")
    with store.open(name) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ArchiveError(f"{store.where}: {name} is over the limit of {limit:,} bytes")
    return data


def refuse_links(folder: Path) -> None:
    """Raise ArchiveError where a folder of the archive `folder`, or a file at its top, is a link.

    Before anything is written to an archive that may come from elsewhere. What lies deeper is
    opened so that no link is followed, and need not be listed: there may be a million pages.
    """
    for place in (folder, folder / "pages"):
        if place.is_dir():
            with os.scandir(place) as entries:
                link = next((entry.path for entry in entries if entry.is_symlink()), None)
            if link is not None:
                raise ArchiveError(f"{link} is a link; an archive has none")


class FolderStore:
    """An archive's folder."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.path = path

    def open(self, name: str) -> BinaryIO:
        """See :class:`Store`."""
        path = self._plain(name)
        try:
            return open(path, "rb")
        except OSError as exc:
            raise DiskError(f"cannot read {path}: {exc.strerror or exc}") from exc

    def size(self, name: str) -> int:
        """See :class:`Store`."""
        return self._plain(name).stat().st_size

    def has(self, name: str) -> bool:
        """See :class:`Store`."""
        return (self.path / name).is_file()

    def close(self) -> None:
        """See :class:`Store`."""

    def _plain(self, name: str) -> Path:
        path = self.path / name
        if not path.is_file():
            raise ArchiveError(f"{self.where}: {name} is missing")
        if not os.path.realpath(path).startswith(os.path.realpath(self.path) + os.sep):
            raise ArchiveError(f"{self.where}: {name} is a link that leads out of the archive")
        return path


class ZipStore:
    """An archive as one zip; its members are stored, so each can be read at any place."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as exc:
            raise DiskError(f"cannot read {path}: {exc.strerror or exc}") from exc
        except (NotImplementedError, ValueError) as exc:  # versions and names it does not know
            raise ArchiveError(f"{path} is a zip that cannot be read: {exc}") from exc
        if len(self._zip.NameToInfo) != len(self._zip.infolist()):
            self._zip.close()
            raise ArchiveError(f"{path} has two members of one name")
        if MANIFEST not in self._zip.NameToInfo:
            self._zip.close()
            raise ArchiveError(f"{path} is a zip, but no archive: it holds no {MANIFEST}")

    def open(self, name: str) -> BinaryIO:
        """See :class:`Store`."""
        info = self._info(name)
        try:
            return io.BufferedReader(_Raw(self._zip.open(info), name))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError) as exc:
            raise ArchiveError(f"{self.where}: {name} cannot be read: {exc}") from exc

    def size(self, name: str) -> int:
        """See :class:`Store`."""
        return self._info(name).file_size

    def has(self, name: str) -> bool:
        """See :class:`Store`."""
        return name in self._zip.NameToInfo

    def close(self) -> None:
        """See :class:`Store`."""
        self._zip.close()

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._zip.NameToInfo.get(name)
        if info is None:
            raise ArchiveError(f"{self.where}: {name} is missing")
        if info.compress_type != zipfile.ZIP_STORED:
            raise ArchiveError(f"{self.where}: {name} is compressed; an archive's members are not")
        return info


class _Raw(io.RawIOBase):
    """A member of a zip whose damage is an ArchiveError instead of the library's own."""

    def __init__(self, member: IO[bytes], name: str) -> None:
        super().__init__()
        self._member = member
        self._name = name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._member.seek(offset, whence))

    def tell(self) -> int:
        return int(self._member.tell())

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        try:
            data = self._member.read(len(view))
        except (zipfile.BadZipFile, EOFError, OSError, ValueError) as exc:
            raise ArchiveError(f"{self._name} in the zip is damaged: {exc}") from exc
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._member.close()
        super().close()
