"""A ZIP that ChatGPT or Claude.ai made of an account: its ``conversations.json``, read in place.

Nothing is unpacked to disk. Member names are only compared, never used as paths, and one that
leads out of the archive is not read at all. ChatGPT's pictures and files are taken from the ZIP.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson

from snapcompact.errors import FormatError, InputError
from snapcompact.history.conversations import chosen
from snapcompact.history.documents import MAX_DOCUMENT_BYTES
from snapcompact.history.formats import Conversation, chatgpt_export, claude_ai_export
from snapcompact.history.report import Report
from snapcompact.history.salvage import salvage

if TYPE_CHECKING:
    from snapcompact.history.blocks import Json
    from snapcompact.history.formats import Head, Options
    from snapcompact.history.model import Message
    from snapcompact.history.source import Source

MAX_ASSET_BYTES = 64 << 20
"""Largest picture or file taken from the ZIP; a larger one stays a reference."""

MOST_MEMBERS = 200_000
"""Members listed at most: their directory takes about 0.5 KB of memory each."""

_CONVERSATIONS = re.compile(r"conversations(-\d+)?\.json")
_OURS = "manifest.json"
_MOST_IDS = 9
_FILE = "file-"


def sniff(head: Head) -> bool:
    """Any ZIP: what is in it stands at its end, which a head does not show."""
    return head.data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """Every selected conversation, in the order of the files. Raises FormatError for other ZIPs."""
    with _opened(source) as archive:
        assets = _Assets(archive)
        listed = (_about(value) for value in _values(archive, report))
        for found in chosen(listed, options, report):
            yield from found.note
            if "mapping" in found.body:
                yield from chatgpt_export.conversation(found.body, options, report, assets.get)
            else:
                yield from claude_ai_export.conversation(found.body, options, report)


def conversations(source: Source) -> tuple[Conversation, ...]:
    """All of them, in the order of the files."""
    with _opened(source) as archive:
        return tuple(_about(value)[0] for value in _values(archive, Report()))


def _about(value: Json) -> tuple[Conversation, Json]:
    if "mapping" in value:
        return chatgpt_export.about_one(value)
    return claude_ai_export.about_one(value)


@contextmanager
def _opened(source: Source) -> Iterator[zipfile.ZipFile]:
    with source.raw() as file:
        try:
            with zipfile.ZipFile(file) as archive:
                if len(archive.infolist()) > MOST_MEMBERS:
                    raise InputError(f"{source.name}: more than {MOST_MEMBERS:,} files in this ZIP")
                yield archive
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise FormatError(f"{source.name}: a ZIP that cannot be read: {error}") from error
        except RuntimeError as error:  # how zipfile says that a member is encrypted
            raise FormatError(f"{source.name}: {error}") from error


def _values(archive: zipfile.ZipFile, report: Report) -> Iterator[Json]:
    """The conversations of all files of them, one file in memory at a time."""
    names = sorted(info.filename for info in archive.infolist() if _is_conversations(info))
    if not names:
        ours = any(PurePosixPath(name).name == _OURS for name in archive.namelist())
        what = "a snapcompact archive" if ours else "no export of ChatGPT or Claude.ai"
        raise FormatError(
            f"{archive.filename or 'this ZIP'} has no conversations.json: it is {what}"
        )
    others = sum(name.endswith(".json") for name in archive.namelist()) - len(names)
    if others:  # an account's settings, memories, feedback
        report.skipped["other JSON file of the account"] += others
    for name in names:
        data = _member(archive, archive.getinfo(name), MAX_DOCUMENT_BYTES)
        if data is None:
            raise InputError(f"{name} in the ZIP is larger than {MAX_DOCUMENT_BYTES:,} bytes")
        for value in chatgpt_export.unwrapped(_parsed(data, report)):
            if "mapping" in value or "chat_messages" in value:
                yield value
            else:
                report.skipped["unknown conversation"] += 1


def _is_conversations(info: zipfile.ZipInfo) -> bool:
    place = PurePosixPath(info.filename)
    return bool(_CONVERSATIONS.fullmatch(place.name)) and _is_safe(place, info)


def _is_safe(place: PurePosixPath, info: zipfile.ZipInfo) -> bool:
    """Whether a member's name stays inside the archive, and it is a plain file."""
    kind = info.external_attr >> 28  # upper bits of the Unix mode: 8 a plain file, 0 unsaid
    inside = not place.is_absolute() and ".." not in place.parts and "\\" not in info.filename
    return inside and kind in (0, 8) and not info.is_dir()


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes | None:
    """A member's bytes, None where they are more than `limit`, whatever the directory says."""
    if info.file_size > limit:
        return None
    try:
        with archive.open(info) as file:
            data = file.read(limit + 1)
    except (ValueError, OverflowError) as error:  # an offset before the file's start
        raise zipfile.BadZipFile(str(error)) from error
    return data if len(data) <= limit else None


def _parsed(data: bytes, report: Report) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        found = salvage(data)
    for kind in found.damage:
        report.damage.add(kind, 0)
    return found.values[0] if found.values else None


class _Assets:
    """Files of the ZIP by the id that their names begin with (``file-ABC-photo.png``)."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._infos: dict[str, zipfile.ZipInfo] = {}
        for info in archive.infolist():
            place = PurePosixPath(info.filename)
            if _is_safe(place, info) and place.name.startswith(("file-", "file_")):
                for file_id in _ids(place):
                    self._infos.setdefault(file_id, info)

    def get(self, file_id: str) -> bytes | None:
        """Bytes of the file with `file_id`, None where it is not there or too large."""
        info = self._infos.get(file_id)
        return None if info is None else _member(self._archive, info, MAX_ASSET_BYTES)


def _ids(place: PurePosixPath) -> Iterator[str]:
    """Ids that a file's name may begin with: ``file-ID``, up to each later dash or dot."""
    name = place.name
    for match in islice(re.finditer(r"[-.]", name[len(_FILE) :]), _MOST_IDS):
        yield name[: len(_FILE) + match.start()]
    yield name
