"""Where a session's bytes come from."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import DiskError
from snapcompact.history.source import Source, open_source

TEXT = b'{"a":1}\n' * 400_000
"""Several blocks when unpacked."""


def _pack(kind: str, data: bytes) -> bytes:
    match kind:
        case "gzip":
            return gzip.compress(data, 1)
        case "two members":
            half = len(data) // 2
            return gzip.compress(data[:half], 1) + b"\0" * 9 + gzip.compress(data[half:], 1)
        case "zstd":
            return zstandard.compress(data, 1)
        case "two frames":
            half = len(data) // 2
            return zstandard.compress(data[:half], 1) + zstandard.compress(data[half:], 1)
    return data


KINDS = ["plain", "gzip", "two members", "zstd", "two frames"]


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_the_unpacked_bytes_every_time(kind: str) -> None:
    source = open_source(_pack(kind, TEXT))
    for _ in range(2):
        assert b"".join(source.blocks()) == TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_the_tap_sees_every_original_byte(kind: str) -> None:
    packed = _pack(kind, TEXT)
    digest = hashlib.sha256()
    for _ in open_source(packed).blocks(digest.update):
        pass
    assert digest.hexdigest() == hashlib.sha256(packed).hexdigest()


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("cut", [9, 1])
def test_a_cut_stream_gives_what_came_before_and_says_so(kind: str, cut: int) -> None:
    packed = _pack(kind, TEXT)
    packed = packed[: len(packed) - cut]
    seen: list[bytes] = []
    damaged: list[bool] = []
    data = b"".join(open_source(packed).blocks(seen.append, lambda: damaged.append(True)))
    assert TEXT.startswith(data)
    assert damaged == [True]
    assert b"".join(seen) == packed


@given(st.sampled_from([b"\x1f\x8b", b"\x28\xb5\x2f\xfd"]), st.binary(max_size=40))
def test_no_packed_nonsense_raises(magic: bytes, rest: bytes) -> None:
    for _ in open_source(magic + rest).blocks(damaged=lambda: None):
        pass


def test_head_is_a_prefix(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TEXT, 1))
    source = open_source(path)
    assert source.head(100) == TEXT[:100]
    assert source.size() == path.stat().st_size


def test_a_missing_file_is_a_disk_error(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="cannot read"):
        open_source(tmp_path / "missing")


def test_standard_input_is_spooled_and_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    with open_source("-") as source:
        assert source.path is not None
        assert b"".join(source.blocks()) == b"".join(source.blocks()) == TEXT
        path = source.path
    assert not path.exists()


def test_closing_leaves_the_users_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    with open_source(path):
        pass
    assert path.exists()
    assert open_source(Source("a", path)).path == path
