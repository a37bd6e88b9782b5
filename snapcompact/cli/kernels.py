"""What is done once the kernels are imported, before the first of them runs."""

from __future__ import annotations

from snapcompact.cli.console import note
from snapcompact.cli.garbage import search_as_usual


def announce_compiling(*, quiet: bool = False, effort: str = "") -> None:
    """Say on stderr that the kernels will be compiled, where they are not in the cache yet.

    With `effort`, those that archive pages with it are then compiled at once.
    """
    from snapcompact_kernels._jit import cache_is_warm

    search_as_usual()
    if cache_is_warm():
        return
    if not quiet:
        note("compiling the kernels; once for this version and machine, some ten seconds")
    if effort:
        from snapcompact.pages.warmup import compile_ahead

        compile_ahead(effort)
