"""The program: commands in the order of their use, and the one place where errors are printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import typer

from snapcompact.cli.console import ReaderGone, note
from snapcompact.errors import SnapcompactError

EXIT_INPUT = 1
EXIT_MACHINE = 3
EXIT_INTERRUPTED = 130

COMMANDS = (
    "archive",
    "verify",
    "restore",
    "read",
    "estimate",
    "payload",
    "transcript",
    "sessions",
    "inspect",
    "export",
    "info",
    "formats",
    "shapes",
    "fonts",
    "models",
    "legibility",
    "bench",
    "dataset",
    "compact",
    "undo",
    "config",
    "rpc",
    "doctor",
)
"""Each is a module of this package that registers the command of its name."""


def program(commands: Sequence[str] = COMMANDS) -> typer.Typer:
    """The program with these commands.

    Where one is to run, making that one alone saves 35 ms: typer looks at every option of each.
    """
    app = typer.Typer(
        name="snapcompact",
        help="Archives agent histories onto dense bitmap pages that machines read back.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(top)
    for command in commands:
        import_module(f"snapcompact.cli.{command}").register(app)
    return app


def top(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """Archives agent histories onto dense bitmap pages that machines read back."""
    if version:
        from importlib.metadata import version as installed

        print(f"snapcompact {installed('snapcompact')}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code (0 done, 1 input, 2 usage, 3 machine, 130)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for good
    sys.unraisablehook = _once_more
    code = run()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader has gone, or it was closed
            stream.flush()
    # All is written and closed. To take down the interpreter with numba in it, object by object,
    # would take 70 ms more. An error that we do not know went up from run() instead.
    os._exit(code)


def run(arguments: list[str] | None = None) -> int:
    """The exit code of the command line, its errors printed on stderr without a traceback."""
    given = sys.argv[1:] if arguments is None else arguments
    wanted = given[:1] if given and given[0] in COMMANDS else COMMANDS
    try:
        result = program(wanted)(given, standalone_mode=False)
        sys.stdout.flush()
        if result == EXIT_INTERRUPTED:  # as typer makes of Ctrl-C
            raise KeyboardInterrupt
        return int(result or 0)
    except SnapcompactError as error:
        note(str(error))
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        note("interrupted; nothing was left half done")
        return EXIT_INTERRUPTED
    except (ReaderGone, BrokenPipeError):
        # What is still buffered must not fail again when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        note("not enough memory")
        return EXIT_MACHINE
    except OSError as error:
        note(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        return EXIT_MACHINE
    except Exception as error:
        return _usage_error(error)


def _usage_error(error: Exception) -> int:
    """Show a wrong command line; anything else is a fault of ours and is raised again.

    Newer versions of typer carry a click of their own, so its errors are told by what they can do.
    """
    show, code = getattr(error, "show", None), getattr(error, "exit_code", None)
    if not callable(show) or not isinstance(code, int):
        raise error
    with suppress(OSError):  # nobody reads stderr
        show()
    return code


def _once_more(lost: sys.UnraisableHookArgs) -> None:
    """Ctrl-C while C calls us back, as LLVM does when it compiles, is lost: it comes again."""
    if lost.exc_type is KeyboardInterrupt:
        from signal import SIGINT, pthread_kill
        from threading import Timer, main_thread

        # When we are out of the call, and as a signal, which ends waiting too.
        Timer(0.05, pthread_kill, (main_thread().ident, SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)
