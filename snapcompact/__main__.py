"""``python -m snapcompact`` and the ``snapcompact`` program."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from snapcompact.cli.garbage import search_late

    search_late()
    try:
        from snapcompact.cli.app import main as run

        run()
    except KeyboardInterrupt:  # before the commands are there, or after them
        import sys

        sys.exit(130)


if __name__ == "__main__":
    main()
