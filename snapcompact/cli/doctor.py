"""``snapcompact doctor``."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import typer

from snapcompact.cli.console import say, say_json
from snapcompact.cli.options import Json

LIBRARIES = ("numba", "numpy", "isal", "deflate", "zstandard", "orjson", "pillow", "typer")
"""What pages and archives are made with."""
EXTRAS = {
    "anthropic": "anthropic",
    "dataset": "pyarrow",
    "gemini": "google-genai",
    "openai": "openai",
    "plot": "matplotlib",
    "redact": "detect-secrets",
    "ocr": "rapidocr",
    "tokenizers": "splintr-rs",
}
"""Optional extras and the package that tells whether they are installed."""
PROGRAMS = {"tesseract": "--reader tesseract"}
"""Optional programs, and what needs them."""
TEXT = "def f(x):\n\treturn x  # é Ω 🌀 \u200b, a wide 一 and more\n" * 90
SHAPE = "11x16"


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(doctor)


def doctor(as_json: Json = False) -> None:
    """Show what this installation runs with, and print and read back one page as a test."""
    found = {
        "snapcompact": version("snapcompact"),
        **_machine(),
        **_kernels(),
        "libraries": ", ".join(f"{name} {_version(name)}" for name in LIBRARIES),
        "extras": ", ".join(f"{name} {_version(package)}" for name, package in EXTRAS.items()),
        "programs": ", ".join(_program(name, use) for name, use in PROGRAMS.items()),
        "self-test": _self_test(),
    }
    if as_json:
        say_json(found)
        return
    for name, text in found.items():
        say(f"{name:<12} {text}")


def _machine() -> dict[str, str]:
    import os
    import platform

    from llvmlite.binding import get_host_cpu_name

    return {
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "cpu": f"{get_host_cpu_name()}, {len(os.sched_getaffinity(0))} cores to use",
    }


def _kernels() -> dict[str, str]:
    """How kernels run: there is one source for all machines, which numba compiles for this CPU."""
    from snapcompact_kernels._jit import cache_folder, cache_is_warm, config

    if config.DISABLE_JIT:
        return {"kernels": "plain Python (NUMBA_DISABLE_JIT is set): hundreds of times slower"}
    folder = cache_folder()
    if folder is None:
        return {
            "kernels": "compiled for this CPU, anew in every process (seconds)",
            "cache": "none: the cache folder cannot be written; NUMBA_CACHE_DIR moves it",
        }
    state = "warm" if cache_is_warm() else "empty: the next run compiles, once, for seconds"
    return {"kernels": "compiled for this CPU", "cache": f"{folder} ({state})"}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _program(name: str, use: str) -> str:
    import shutil

    return f"{name} {shutil.which(name) or f'not found (for {use})'}"


def _self_test() -> str:
    """A page printed and read back. Raises VerifyError where it does not come back."""
    import time
    import zlib

    from snapcompact.errors import VerifyError
    from snapcompact.fonts.atlas import load_atlas
    from snapcompact.pages import png
    from snapcompact.pages.cells import paginate
    from snapcompact.pages.decode import read_text
    from snapcompact.pages.pipeline import render_page
    from snapcompact.pages.shape import parse_shape

    shape = parse_shape(SHAPE)
    atlas = load_atlas(shape.font)
    text = TEXT.encode()
    times = []
    for _ in range(2):  # the first one compiles or loads the kernels
        start = time.perf_counter()
        pages = [render_page(page, shape, atlas).png for page in paginate([text], shape, atlas)]
        back = b"".join(read_text(png.decode(page), shape, atlas) for page in pages)
        times.append(time.perf_counter() - start)
    if back != text:
        raise VerifyError(
            f"self-test: {len(text):,} bytes printed at {SHAPE} came back as {len(back):,} others "
            f"(CRC-32 {zlib.crc32(text):08x} and {zlib.crc32(back):08x}); please report it"
        )
    return (
        f"passed: {len(text):,} bytes printed and read back in {times[1] * 1e3:.1f} ms, "
        f"the first time in {times[0]:.1f} s"
    )
