"""Files at the edge: bounded reads, private atomic writes, spooled pipes, this user's folders.

Every ``OSError`` leaves here as :class:`~snapcompact.errors.DiskError` naming the file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import platformdirs

from snapcompact.errors import DiskError, InputError

BLOCK_BYTES = 1 << 20
"""Bytes asked of the system at a time; larger blocks were no faster to read and split."""


@contextmanager
def disk_errors(what: str, path: Path | str) -> Iterator[None]:
    """Turn an ``OSError`` of the body into a DiskError that names `path` and what was done."""
    try:
        yield
    except DiskError:
        raise
    except OSError as error:
        raise DiskError(f"cannot {what} {path}: {error.strerror or error}") from error


def open_binary(path: Path) -> BinaryIO:
    """`path` opened for reading, unbuffered. Raises DiskError; a folder is refused too."""
    with disk_errors("read", path):
        return open(path, "rb", buffering=0)


def read_bounded(path: Path, limit: int) -> bytes:
    """All bytes of `path`. Raises InputError, before reading, where it holds more than `limit`."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file that can be read at once")
    with disk_errors("read", path), open(path, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"{path} is larger than the {limit:,} bytes allowed here")
    return data


def blocks(file: BinaryIO, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """The rest of `file` in pieces of at most `size` bytes, none empty."""
    while block := file.read(size):
        yield block


def spool(stream: BinaryIO, name: str = "stdin") -> Path:
    """A private temporary file (0600) with all bytes of `stream`; the caller deletes it."""
    with disk_errors("spool", name):
        descriptor, path = tempfile.mkstemp(prefix="snapcompact-", suffix=".spool")
        try:
            with open(descriptor, "wb") as file:
                for block in blocks(stream):
                    file.write(block)
        except BaseException:
            os.unlink(path)
            raise
    return Path(path)


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """A private file (0600) that becomes `path`, synced, when the body ends; else nothing does."""
    with disk_errors("write", path):
        descriptor, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with open(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
        sync_folder(path.parent)


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` as `path`: private, synced, whole or not at all. Raises DiskError."""
    with atomic_writer(path) as file:
        file.write(data)


def sync_folder(path: Path) -> None:
    """Make the names in folder `path` survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def home_dir() -> Path:
    """The home folder of this user. Raises DiskError where there is none, as in a container."""
    with _needs_home():
        return Path.home()


def cache_dir() -> Path:
    """Folder for what can be made again, this user's own, not necessarily there yet."""
    with _needs_home():
        return Path(platformdirs.user_cache_dir("snapcompact", appauthor=False))


def config_dir() -> Path:
    """Folder for settings, this user's own, not necessarily there yet."""
    with _needs_home():
        return Path(platformdirs.user_config_dir("snapcompact", appauthor=False))


@contextmanager
def _needs_home() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise DiskError("this user has no home folder; set HOME to one") from error
