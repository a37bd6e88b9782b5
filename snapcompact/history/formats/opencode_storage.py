"""OpenCode's file store up to 1.1: ``storage/{session,message,part}/…``, one small object a file.

A session's file is read with the messages and parts around it, a message's with its parts, a
part's by itself. Ids name files only where they are plain names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from snapcompact.errors import DiskError, InputError
from snapcompact.files import read_bounded
from snapcompact.history.blocks import Json, json_of, text_of
from snapcompact.history.documents import document
from snapcompact.history.formats.opencode_export import session
from snapcompact.history.opencode import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.model import Message
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

MAX_FILE_BYTES = 256 << 20
"""Largest message or part read; a part may hold a whole tool output with pictures."""

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_PLACE = re.compile(r"/(?:session|message|part)/")


def sniff(head: Head) -> bool:
    """A small object that names its session, message or project, or lies where such lie."""
    whole = json_of(head.document)
    if not isinstance(whole.get("id"), str) or "messages" in whole:
        return False
    if "sessionID" in whole or "messageID" in whole or ("projectID" in whole and "time" in whole):
        return True
    return "type" in whole and _PLACE.search(head.name.replace("\\", "/")) is not None


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The session, message or part that the file is."""
    whole = document(source, report)
    value = json_of(whole.value if whole is not None else None)
    store = _Store(source.path, report)
    if "role" in value:
        yield from message(value, store.parts(text_of(value.get("id"))), report)
    elif "type" in value and "projectID" not in value:
        yield from message({"role": "assistant"}, [value], report)
    else:
        found = store.messages(text_of(value.get("id")))
        pairs = ((info, store.parts(text_of(info.get("id")))) for info in found)
        yield from session(value, pairs, options, report)


class _Store:
    """The store around one of its files; empty where there is none, as for a pipe."""

    def __init__(self, path: Path | None, report: Report) -> None:
        self._root = _root(path)
        self._report = report
        self._flat: dict[str, list[Json]] | None = None

    def messages(self, session_id: str) -> list[Json]:
        """Infos of a session's messages by (time, id)."""
        infos = [info for _, info in self._objects(self._folder("message", session_id))]
        return sorted(infos, key=lambda info: (_created(info), text_of(info.get("id"))))

    def parts(self, message_id: str) -> list[Json]:
        """Parts of a message in the order of their files."""
        folder = self._folder("part", message_id)
        if folder is not None and folder.is_dir():
            return [part for _, part in self._objects(folder)]
        return self._old_parts().get(message_id, [])

    def _old_parts(self) -> dict[str, list[Json]]:
        """Parts that lie in one folder, as the oldest versions left them, by message."""
        if self._flat is None:
            self._flat = defaultdict(list)
            folder = self._root / "part" if self._root is not None else None
            for _, part in self._objects(folder):
                self._flat[text_of(part.get("messageID"))].append(part)
        return self._flat

    def _folder(self, kind: str, name: str) -> Path | None:
        if self._root is None or not _PLAIN.fullmatch(name):
            return None
        return self._root / kind / name

    def _objects(self, folder: Path | None) -> Iterator[tuple[str, Json]]:
        if folder is None or not folder.is_dir():
            return
        for path in sorted(folder.glob("*.json")):
            value = self._object(path)
            if value:
                yield path.stem, value

    def _object(self, path: Path) -> Json:
        try:
            return json_of(orjson.loads(read_bounded(path, MAX_FILE_BYTES)))
        except (orjson.JSONDecodeError, DiskError, InputError):
            self._report.damage.add("bad-line", 0)
            self._report.notes.append(f"{path.name} could not be read")
            return {}


def _root(path: Path | None) -> Path | None:
    """The store that `path` lies in: the folder above ``session``, ``message`` or ``part``."""
    for folder in path.absolute().parents if path is not None else []:
        if folder.name in ("session", "message", "part"):
            return folder.parent
    return None


def _created(info: Json) -> float:
    value: Any = json_of(info.get("time")).get("created")
    return float(value) if isinstance(value, int | float) else 0.0
