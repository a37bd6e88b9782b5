"""Every error snapcompact raises on purpose, as one tree.

SnapcompactError                exit  what happened
├── InputError (ValueError)     1     input that cannot be used
│   ├── FormatError                   no reader fits, or the named one does not
│   ├── DamageError                   damaged input met under ``--strict``
│   ├── PageError                     a picture that is not a readable page
│   └── ArchiveError                  a folder or zip that is not a readable archive
│       ├── VersionError              written by a newer version of the format
│       └── VerifyError               an archive whose pages, hashes or counts disagree
├── UsageError                  2     asked for something that is refused
│   ├── UnknownNameError (LookupError)   an unknown shape, font, model, reader, format
│   ├── OutputExistsError             the output is already there
│   └── FocusRefusedError             focus text given to the snapcompact mode
└── MachineError                3     the machine: disk, extras, network, programs
    ├── DiskError (OSError)           cannot read or write a file
    ├── MissingExtraError (ImportError)  an optional dependency is not installed
    ├── MissingProgramError           an external program is not installed
    └── NetworkError                  a server cannot be reached or answers nonsense
        ├── ModelError                a model's server refused, failed or answered no summary
        └── PartialResultError        some of the work came back and was kept

A message says what was asked for, what was found, where (file, line, page) and what to do.
"""

from __future__ import annotations

from typing import ClassVar


class SnapcompactError(Exception):
    """Base of every error raised on purpose; ``str()`` is fit to print."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1


class InputError(SnapcompactError, ValueError):
    """Input that cannot be used."""

    code = "input"


class FormatError(InputError):
    """No reader fits the content, or the named one does not."""

    code = "format"


class DamageError(InputError):
    """Damaged input met where the caller asked for none."""

    code = "damage"


class PageError(InputError):
    """A picture that is not a readable page."""

    code = "page"


class ArchiveError(InputError):
    """A folder or zip that is not a readable archive."""

    code = "archive"


class VersionError(ArchiveError):
    """Written by a newer version of the format."""

    code = "version"


class VerifyError(ArchiveError):
    """An archive whose pages, hashes or counts disagree."""

    code = "verify"


class UsageError(SnapcompactError):
    """A request that is refused; nothing was touched."""

    code = "usage"
    exit_code = 2


class UnknownNameError(UsageError, LookupError):
    """An unknown shape, font, model, reader or format."""

    code = "unknown-name"


class OutputExistsError(UsageError, FileExistsError):
    """The output is already there."""

    code = "output-exists"


class FocusRefusedError(UsageError):
    """Focus text given to the snapcompact mode, which has no model to steer."""

    code = "focus-refused"


class MachineError(SnapcompactError):
    """The machine is in the way: disk, extras, network, programs."""

    code = "machine"
    exit_code = 3


class DiskError(MachineError, OSError):
    """A file cannot be read or written."""

    code = "disk"


class MissingExtraError(MachineError, ImportError):
    """An optional dependency is not installed."""

    code = "missing-extra"


class MissingProgramError(MachineError):
    """An external program is not installed."""

    code = "missing-program"


class NetworkError(MachineError):
    """A server cannot be reached or answers nonsense."""

    code = "network"


class ModelError(NetworkError):
    """A model's server refused, failed or broke off; ``kind`` is an ``llm.contract.Failure``."""

    code = "model"

    def __init__(
        self, message: str, *, kind: str, status: int = 0, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        """The HTTP status, 0 without an answer."""
        self.retry_after_s = retry_after_s
        """Seconds the server asked to wait."""


class PartialResultError(NetworkError):
    """Some of the work came back and was kept; the rest did not."""

    code = "partial"
