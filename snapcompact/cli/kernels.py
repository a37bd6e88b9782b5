"""What is done once the kernels are imported, before the first of them runs."""

from __future__ import annotations

from snapcompact.cli.console import note
from snapcompact.cli.garbage import search_as_usual


def announce_compiling(*, quiet: bool = False) -> None:
    """Say on stderr that the kernels will be compiled, where they are not in the cache yet."""
    from snapcompact_kernels._jit import cache_is_warm

    search_as_usual()
    if not quiet and not cache_is_warm():
        note("compiling the kernels; once for this version and machine, ten to twenty seconds")
