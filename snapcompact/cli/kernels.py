"""A word to the user before the first run compiles."""

from __future__ import annotations

from snapcompact.cli.console import note


def announce_compiling(*, quiet: bool = False) -> None:
    """Say on stderr that the kernels will be compiled, where they are not in the cache yet."""
    from snapcompact_kernels._jit import cache_is_warm

    if not quiet and not cache_is_warm():
        note("compiling the kernels; once for this version and machine, a few seconds")
