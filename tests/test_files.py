"""Files at the edge."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest

from snapcompact.errors import DiskError, InputError
from snapcompact.files import (
    atomic_writer,
    blocks,
    cache_dir,
    config_dir,
    home_dir,
    open_binary,
    read_bounded,
    spool,
    write_atomic,
)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_write_atomic_is_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert _mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_broken_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomic(path, b"old")

    def stopped() -> None:
        with atomic_writer(path) as file:
            file.write(b"half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_write_into_a_missing_folder_names_the_path(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match=r"cannot write .*missing"):
        write_atomic(tmp_path / "missing" / "a", b"")


def test_read_bounded_refuses_what_is_larger(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(InputError, match="larger than the 4 bytes"):
        read_bounded(path, 4)


@pytest.mark.parametrize("name", ["missing", "."])
def test_reading_what_is_no_file_is_a_disk_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DiskError, match="cannot read"):
        open_binary(tmp_path / name)


def test_spool_keeps_all_bytes_in_a_private_file() -> None:
    path = spool(io.BytesIO(b"x" * 3_000_000))
    try:
        assert path.read_bytes() == b"x" * 3_000_000
        assert _mode(path) == 0o600
    finally:
        os.unlink(path)


def test_blocks_are_whole_and_none_is_empty() -> None:
    found = list(blocks(io.BytesIO(b"abcde"), 2))
    assert found == [b"ab", b"cd", b"e"]


def test_a_user_without_a_home_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(*arguments: object, **named: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr("platformdirs.user_cache_dir", homeless)
    monkeypatch.setattr("platformdirs.user_config_dir", homeless)
    for folder in (home_dir, cache_dir, config_dir):
        with pytest.raises(DiskError, match="HOME"):
            folder()
