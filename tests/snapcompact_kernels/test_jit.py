"""The kernel cache: fresh after any edit, harmless where it cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from snapcompact_kernels import _jit

CALLEE = """
from snapcompact_kernels._jit import kernel
@kernel
def step(x):
    return x + {constant}
"""
ENTRY = """
import numpy as np
from snapcompact_kernels._jit import kernel
from snapcompact_kernels.callee import step
@kernel
def entry(x):
    return step(np.zeros(x, np.int64).size)
"""
RUN = """
from snapcompact_kernels._jit import cache_folder, cache_is_warm
warm = cache_is_warm("entry")
from snapcompact_kernels.entry import entry
print(entry(1), warm, cache_folder() is not None)
"""
LOADED = """
import sys
compiler = "numba.np.linalg"  # one of the modules numba imports before it compiles
own = "numba.np.arrayobj"  # the one that np.zeros is written in
print(compiler in sys.modules, own in sys.modules)
"""
CALLS = """
from snapcompact_kernels.callee import step
assert step(1) == 21
"""
RAISES = """
try:
    entry(-1)
except ValueError as error:
    print(error)
"""


ours = pytest.mark.skipif(
    not numba.__version__.startswith(_jit._KNOWN),
    reason="other versions of numba keep code their way",
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the decorator in a package of its own, with a kernel that calls another's file."""
    folder = tmp_path / "snapcompact_kernels"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for module in ("_jit.py", "_light.py", "_parts.py"):
        shutil.copy(Path(_jit.__file__).with_name(module), folder)
    (folder / "callee.py").write_text(CALLEE.format(constant=20))
    (folder / "entry.py").write_text(ENTRY)
    return tmp_path


def start(package: Path, cache: Path, code: str = RUN) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(package), "XDG_CACHE_HOME": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        cwd=package,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(package: Path, cache: Path, code: str = RUN) -> str:
    out, err = start(package, cache, code).communicate()
    assert not err
    return out.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
def test_an_edited_callee_in_another_file_is_not_served_stale(package: Path) -> None:
    cache = package / "cache"
    assert run(package, cache) == "21 False True"
    assert run(package, cache) == "21 True True"
    (package / "snapcompact_kernels" / "callee.py").write_text(CALLEE.format(constant=30))
    assert run(package, cache) == "31 False True"


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
@ours
def test_compiled_code_loads_without_the_compiler(package: Path) -> None:
    cache = package / "cache"
    assert run(package, cache, RUN + LOADED).split() == ["21", "False", *["True"] * 3]
    assert run(package, cache, RUN + LOADED).split() == ["21", "True", "True", *["False"] * 2]


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
def test_loaded_code_raises_as_compiled_code_does(package: Path) -> None:
    cache = package / "cache"
    for warm in (False, True):
        expected = f"21 {warm} True\nnegative dimensions not allowed"
        assert run(package, cache, RUN + RAISES) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
def test_a_part_raises_as_the_whole_does(package: Path) -> None:
    modules = package / "snapcompact_kernels"
    counted = CALLEE.replace("x + {constant}", "np.zeros(x, np.int64).size + 20")
    (modules / "callee.py").write_text("import numpy as np\n" + counted)
    (modules / "entry.py").write_text(ENTRY.replace("np.zeros(x, np.int64).size", "x"))
    cache = package / "cache"
    for warm in (False, True):
        expected = f"21 {warm} True\nnegative dimensions not allowed"
        assert run(package, cache, RUN + RAISES) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
@ours
def test_a_kernel_that_only_kernels_call_is_a_part_of_them(package: Path) -> None:
    cache = package / "cache"
    for code, kept in ((RUN, {"entry"}), (CALLS, {"entry", "callee"}), (RUN, {"entry", "callee"})):
        run(package, cache, code)
        files = (cache / "snapcompact").rglob("*.nbc")
        assert {path.name.split(".")[0] for path in files} == kept


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
def test_a_kernel_that_python_calls_too_is_compiled_into_a_new_caller(package: Path) -> None:
    cache = package / "cache"
    assert run(package, cache, CALLS) == ""
    for code in (RUN, CALLS + RUN, RUN + CALLS):
        for entry in (cache / "snapcompact").rglob("entry.*"):
            entry.unlink()
        assert run(package, cache, code) == "21 False True"


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
@ours
def test_parts_are_only_translated_and_once_for_all_numbers(package: Path) -> None:
    calls = ENTRY.replace("return step(", "return step(2) - step(3) + 1 + step(")
    (package / "snapcompact_kernels" / "entry.py").write_text(calls)
    parts = """
from snapcompact_kernels.callee import step
assert len(step._parts) == 1 and not step.overloads
assert not step._cache_misses
"""
    assert run(package, package / "cache", RUN + parts) == "21 False True"


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
def test_kernels_compile_where_nothing_can_be_kept(package: Path) -> None:
    blocked = package / "file"
    blocked.touch()
    assert run(package, blocked, CALLS + RUN) == "21 False False"


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
def test_a_folder_that_cannot_be_made_means_no_cache(package: Path) -> None:
    blocked = package / "file"
    blocked.touch()
    assert run(package, blocked) == "21 False False"


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
def test_two_processes_compile_at_once(package: Path) -> None:
    running = [start(package, package / "cache") for _ in range(2)]
    outputs = [process.communicate() for process in running]
    assert [(out.split()[0], err) for out, err in outputs] == [("21", "")] * 2


@ours
@pytest.mark.parametrize("damage", ["cut", "emptied", "zeroed", "bit", "of another", "a folder"])
def test_kept_code_that_is_not_whole_is_as_good_as_none(damage: str, tmp_path: Path) -> None:
    from snapcompact_kernels._light import LightFiles

    files = LightFiles(tmp_path, "kernel", b"source")
    files.save("types", b"machine code")
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    LightFiles(tmp_path, "kernel", b"edited").save("types", b"other code")
    (other,) = (p for p in tmp_path.iterdir() if p != path)
    assert files.load("types") == b"machine code"
    assert files.load("other types") is None
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    else:
        left = {
            "cut": whole[: len(whole) // 2],
            "emptied": b"",
            "zeroed": bytes(len(whole)),
            "bit": whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:],
            "of another": other.read_bytes(),
        }
        path.write_bytes(left[damage])
        assert files.load("types") is None
        files.save("types", b"machine code")
        assert path.read_bytes() == whole
        files.flush()
    assert files.load("types") is None


@ours
@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
def test_damaged_kept_code_is_compiled_anew(package: Path) -> None:
    cache = package / "cache"
    assert run(package, cache) == "21 False True"
    kept = list((cache / "snapcompact").rglob("*.nbc"))
    for file in kept:
        file.write_bytes(b"")
    assert run(package, cache) == "21 True True"
    assert all(file.stat().st_size for file in kept)


VANISHES = """
from pathlib import Path
import shutil
from snapcompact_kernels._jit import cache_folder
from snapcompact_kernels.entry import entry
shutil.rmtree(cache_folder())
cache_folder().touch()
print(entry(1))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sets the cache folder by XDG_CACHE_HOME")
@ours
def test_a_cache_that_can_no_more_be_written_ends_no_run(package: Path) -> None:
    assert run(package, package / "cache", VANISHES) == "21"


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert _jit.cache_folder.__wrapped__() is None


@ours
def test_code_that_ctrl_c_kept_from_llvm_or_us_is_neither_kept_nor_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from snapcompact_kernels import _light

    def thrice(x: int) -> int:
        return 3 * x

    first: Any = _jit.kernel(thrice)
    if not isinstance(getattr(first, "_cache", None), _light.LightCache):
        pytest.skip("numba keeps code its own way here")
    assert first(5) == 15
    (made,) = first.overloads.values()
    made.library._compiled_object = None  # as where the call that hands it over is broken off
    assert not first._cache._impl.check_cachable(made)
    monkeypatch.setattr(_light.LightLibrary, "_finalize_final_module", lambda library: None)
    assert _jit.kernel(thrice)(5) == 15


def test_decorating_leaves_numba_settings_alone() -> None:
    before = _jit.config.CACHE_DIR

    @_jit.kernel
    def twice(x: int) -> int:
        return 2 * x

    assert before == _jit.config.CACHE_DIR
    assert twice(4) == 8
