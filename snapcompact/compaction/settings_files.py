"""The settings of this user and project, read from their files.

User: ``settings.toml`` in the user's configuration folder. Project: ``snapcompact.toml`` in the
working folder or the nearest one above it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from snapcompact.compaction.settings import (
    Settings,
    Source,
    environment_source,
    resolve_settings,
)
from snapcompact.errors import InputError, UsageError
from snapcompact.files import config_dir, read_bounded

USER_FILE = "settings.toml"
PROJECT_FILE = "snapcompact.toml"
_MOST_BYTES = 1 << 20


def settings_sources(folder: Path, user_folder: Path | None = None) -> tuple[Source, ...]:
    """The texts there are, the user's first. Raises DiskError, InputError."""
    user = (user_folder or config_dir()) / USER_FILE
    near = folder.resolve()
    project = next((f for p in (near, *near.parents) if (f := p / PROJECT_FILE).is_file()), None)
    files = [file for file in (user if user.is_file() else None, project) if file is not None]
    return tuple(Source(str(file), _text(file)) for file in files)


def _text(file: Path) -> str:
    try:
        return read_bounded(file, _MOST_BYTES).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is no UTF-8 text: {error}") from error


def command_line_source(assignments: Sequence[str]) -> Source:
    """``--set NAME=VALUE`` options as one text; a value that is no TOML is taken as words.

    Raises UsageError for an assignment without a name.
    """
    lines = [_line(assignment) for assignment in assignments]
    return Source("--set", "\n".join(lines))


def _line(assignment: str) -> str:
    import tomllib

    name, equals, value = assignment.partition("=")
    if not equals or not name.strip():
        raise UsageError(
            f"--set {assignment!r}: write NAME=VALUE, such as trigger.keep_tokens=9000"
        )
    line = f"{name.strip()} = {value.strip()}"
    try:
        tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        escaped = value.strip().replace("\\", "\\\\").replace('"', '\\"')
        line = f'{name.strip()} = "{escaped}"'
    return line


def load_settings(
    folder: Path | None = None, assignments: Sequence[str] = (), *, user_folder: Path | None = None
) -> Settings:
    """All settings in force in `folder` (the working one).

    Weakest first: user, project, the seeds' environment variables, command line. Raises UsageError,
    UnknownNameError, InputError, DiskError.
    """
    sources = settings_sources(folder or Path.cwd(), user_folder)
    return resolve_settings(
        (*sources, environment_source(os.environ), command_line_source(assignments))
    )
