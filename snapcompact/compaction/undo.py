"""What a session held before it was compacted in place: kept beside it, and put back."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from snapcompact.errors import InputError, UsageError
from snapcompact.files import atomic_writer, disk_errors, read_bounded, sync_folder, write_atomic
from snapcompact.history.model import shown

UNDO_SUFFIX = ".undo.json"
"""Behind an in-place session's name: where its backup is and what both hold."""
BACKUP_SUFFIX = ".before"
_MOST_UNDO_BYTES = 1 << 20


def fingerprint(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with disk_errors("read", path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def real_path(path: Path) -> Path:
    """The file `path` leads to: what takes a session's place must not take its link's."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def back_up(path: Path, digest: str) -> Path:
    """A copy of `path` beside it, private and synced, whose name says which state it is."""
    backup = backup_path(path, digest)
    if backup.exists() and fingerprint(backup) == digest:
        return backup
    with disk_errors("copy", path), open(path, "rb") as old, atomic_writer(backup) as new:
        shutil.copyfileobj(old, new, 1 << 20)
    return backup


def backup_path(path: Path, digest: str) -> Path:
    """Where the bytes of `path` with that fingerprint are kept."""
    return path.with_name(f"{path.name}{BACKUP_SUFFIX}.{digest[:12]}")


def _undo_file(path: Path) -> Path:
    return path.with_name(path.name + UNDO_SUFFIX)


def note_undo(path: Path, backup: Path, before: str, after: str) -> None:
    """Put this step on the stack of `path`, before it is taken."""
    step = {"backup": backup.name, "before": before, "after": after}
    steps = [*_steps(path), step]
    write_atomic(_undo_file(path), json.dumps({"steps": steps}, indent=1).encode() + b"\n")


def _steps(path: Path) -> list[dict[str, str]]:
    file = _undo_file(path)
    if not file.exists():
        return []
    try:
        value: Any = json.loads(read_bounded(file, _MOST_UNDO_BYTES))
        steps = value["steps"]
        assert all(isinstance(step[key], str) for step in steps
                   for key in ("backup", "before", "after"))  # fmt: skip
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise InputError(f"{file} is no list of undo steps: {error!r}") from error
    return list(steps)


def undo(path: Path, *, force: bool = False) -> Path:
    """Put back what `path` held before its newest compaction in place; the backup that was used.

    Raises UsageError where there is none, or where `path` has changed since, unless `force`: then
    what it holds now is kept beside it, under a name of its own. A link is followed.
    """
    path = real_path(path)
    now = fingerprint(path) if path.exists() else ""
    steps = _steps(path)
    while steps and steps[-1]["before"] == now:
        steps.pop()  # noted, then interrupted before it was done
    if not steps:
        raise UsageError(f"{path} was not compacted in place; there is nothing to undo")
    step = steps[-1]
    backup = path.parent / os.path.basename(step["backup"])
    if backup.name != step["backup"] or not backup.is_file():
        raise UsageError(f"the backup {shown(step['backup'].encode())} of {path} is gone")
    if fingerprint(backup) != step["before"]:
        raise InputError(f"{backup} is not what was backed up; nothing was changed")
    if now and now != step["after"]:
        if not force:
            raise UsageError(
                f"{path} has changed since it was compacted; --force puts the old state back and "
                "keeps the new one beside it"
            )
        back_up(path, now)
    with disk_errors("write", path):
        mode = path.stat().st_mode & 0o7777 if now else None
        with open(backup, "rb") as old, atomic_writer(path) as new:
            shutil.copyfileobj(old, new, 1 << 20)
        if mode is not None:
            path.chmod(mode)
        _drop_step(path, steps[:-1])
        os.unlink(backup)
        sync_folder(path.parent)
    return backup


def _drop_step(path: Path, steps: list[dict[str, str]]) -> None:
    if steps:
        write_atomic(_undo_file(path), json.dumps({"steps": steps}, indent=1).encode() + b"\n")
    else:
        _undo_file(path).unlink()


_ARCHIVE = re.compile(rb"snapcompact archive ([^/\\\n\x00]{1,200}?) \(manifest [0-9a-f]{64}\)")


def archives_of(path: Path) -> tuple[Path, ...]:
    """The archives that the session at `path` names and that stand beside it."""
    path = real_path(path)
    if not path.exists():
        return ()
    with disk_errors("read", path), open(path, "rb") as file:
        found = {name for line in file for name in _ARCHIVE.findall(line)}
    beside = (path.with_name(os.fsdecode(name)) for name in sorted(found))
    return tuple(one for one in beside if one.is_dir())
