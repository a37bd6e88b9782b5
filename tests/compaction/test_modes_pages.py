"""Pages in place of the past: no model, no socket, no focus; what does not suit gives way."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from snapcompact.archive.read import open_archive
from snapcompact.compaction.deciding import prepared, with_mode
from snapcompact.compaction.entries import is_summary
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.run import apply, make
from snapcompact.compaction.session import context_of, load_stored
from snapcompact.compaction.settings import Source, resolve_settings
from snapcompact.errors import (
    FocusRefusedError,
    UsageError,
)
from snapcompact.history.session import open_session
from snapcompact.llm.client import run
from tests.compaction.running import (
    SETTINGS,
    compacted,
    files_of,
    options,
    session_at,
)
from tests.compaction.sessions import BUILDERS, Turn, pi


def test_pages_in_place_of_the_past(tmp_path: Path) -> None:
    path, out = session_at(tmp_path, 60), tmp_path / "out.jsonl"
    given = options(path, mode="snapcompact", archive=tmp_path / "out.archive")
    ready, result = compacted(path, given, out=out)
    assert result.made.mode == "snapcompact"
    assert result.made.pages >= 1
    assert result.tokens_after < result.change.tokens_before
    with open_archive(tmp_path / "out.archive") as archive:
        texts = [message.text for message in archive.messages()]
        assert b"".join(archive.source()) == path.read_bytes()
    summarised = [item.message.text for item in ready.plan.partition.summarised]
    assert texts == summarised
    assert sorted(os.listdir(tmp_path)) == ["out.archive", "out.jsonl", "s.jsonl"]


def test_a_second_pass_prints_the_first_again(tmp_path: Path) -> None:
    path, first, second = session_at(tmp_path, 60), tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    cut = CutRequest(keep_tokens=6000, force=True)
    given = options(path, mode="snapcompact", archive=tmp_path / "1.archive", cut=cut)
    compacted(path, given, out=first)
    given = options(first, mode="snapcompact", archive=tmp_path / "2.archive")
    _, result = compacted(first, given, out=second)
    assert result.made.mode == "snapcompact"
    with open_session(path) as session:
        whole = [m.text for m in session.messages()]
    with open_archive(tmp_path / "2.archive") as archive:
        texts = [message.text for message in archive.messages()]
    with open_session(second) as session:
        items = context_of(load_stored(session), SETTINGS.policy.context).items
    kept = [item.message.text for item in items if not is_summary(item.message)]
    assert texts + kept[1:] == whole


def test_a_missing_archive_is_told_and_its_pages_stay(tmp_path: Path) -> None:
    path, first = session_at(tmp_path, 60), tmp_path / "1.jsonl"
    cut = CutRequest(keep_tokens=6000, force=True)
    compacted(path, options(path, mode="snapcompact", archive=tmp_path / "1.archive", cut=cut),
              out=first)  # fmt: skip
    os.rename(tmp_path / "1.archive", tmp_path / "gone")
    told: list[str] = []
    given = options(first, mode="snapcompact", archive=tmp_path / "2.archive", say=told.append)
    compacted(first, given, out=tmp_path / "2.jsonl")
    assert any("1.archive" in text for text in told)


@pytest.mark.parametrize("kind", sorted(BUILDERS))
def test_pages_in_every_format(kind: str, tmp_path: Path) -> None:
    path, out = session_at(tmp_path, 40, kind), tmp_path / "out.jsonl"
    given = options(path, mode="snapcompact", archive=tmp_path / "a.archive", strict=True)
    with open_session(path, format=kind.split(maxsplit=1)[0]) as session:
        stored = load_stored(session)
    with with_mode(prepared(stored, given, SETTINGS)) as (ready, draw):
        result = run(make(ready, draw))
        apply(ready, result, out)
    assert result.made.mode == "snapcompact"
    assert b"iVBORw0KGgo" in out.read_bytes()


def test_a_reference_shows_no_page(tmp_path: Path) -> None:
    path, out = session_at(tmp_path, 60), tmp_path / "out.jsonl"
    given = options(path, mode="snapcompact", reference=True, archive=tmp_path / "out.archive")
    _, result = compacted(path, given, out=out)
    assert result.made.pages == 0
    assert b"iVBORw0KGgo" not in out.read_bytes()
    assert b"out.archive" in out.read_bytes()
    assert (tmp_path / "out.archive").is_dir()


def test_no_socket_is_opened_for_pages_extracts_and_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    real = socket.socket

    class Local(real):  # type: ignore[misc,valid-type]
        def __init__(self, family: int = -1, *args: Any, **more: Any) -> None:
            if family != socket.AF_UNIX:  # the event loop's own pair
                refuse()
            super().__init__(family, *args, **more)

    path = session_at(tmp_path, 60)
    monkeypatch.setattr(socket, "socket", Local)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for mode in ("snapcompact", "soft", "remote"):
        told: list[str] = []
        given = options(path, mode=mode, offline=True, say=told.append)
        _, result = compacted(path, given)
        assert result.made.mode == ("soft" if mode == "remote" else mode)
        assert any("--offline" in text for text in told) == (mode == "remote")


def test_focus_with_snapcompact_is_refused_before_all_else(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = files_of(tmp_path)
    with pytest.raises(FocusRefusedError):
        compacted(path, options(path, mode="snapcompact", focus="x"), out=tmp_path / "o")
    assert files_of(tmp_path) == before


def test_focus_alone_passes_over_pages_without_a_warning(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    first = resolve_settings((Source("t", 'methodOrder = ["snapcompact", "soft"]'),))
    told: list[str] = []
    ready, result = compacted(path, options(path, focus="x", say=told.append), first)
    assert result.made.mode == "soft"
    assert told == []
    assert ready.plan.mode is not None
    assert [skip.mode for skip in ready.plan.mode.skipped] == ["snapcompact"]


@pytest.mark.parametrize(
    ("turns", "given", "why"),
    [
        (60, {"reader": "gpt-4"}, "reads text only"),
        (4, {}, "pages would cost"),
        (60, {"byte_limited": True}, "size in bytes"),
    ],
)
def test_pages_that_do_not_suit_give_way_with_a_reason(
    turns: int, given: dict[str, Any], why: str, tmp_path: Path
) -> None:
    path = session_at(tmp_path, turns)
    told: list[str] = []
    _, result = compacted(path, options(path, mode="snapcompact", say=told.append, **given))
    assert result.made.mode == "soft"
    assert any(why in text for text in told)
    with pytest.raises(UsageError, match="cannot run"):
        compacted(path, options(path, mode="snapcompact", strict=True, **given))


def test_text_of_unknown_characters_is_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi([Turn("\U0001f600" * 3000, "yes " * 300, None)] * 9))
    told: list[str] = []
    compacted(path, options(path, mode="snapcompact", say=told.append))
    assert any("would be escapes" in text for text in told)
