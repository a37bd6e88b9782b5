"""Compiled or not, kernels write the same bytes: what NumPy's rules give is what numba's give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import hashlib
from snapcompact.pages import decode, png
from snapcompact.pages.cells import paginate
from snapcompact.pages.compress import EFFORTS
from snapcompact.pages.pipeline import render_pages
from snapcompact.pages.shape import parse_shape
from tests.pages.font import made_up_atlas
atlas = made_up_atlas()
text = b"again /usr/lib/python3 and /usr/lib/python3\\n" * 3
text += b"\\xff\\xed\\xa0\\x80" + "一é".encode()
names = ("8x16@8x16-400x100", "8x16@11x16-400x100", "8x16@17x16-800x100-lines-role")
cases = [(name, text) for name in names]
cases += [("8x16@11x16-154x48", b"no four cells are seen twice!!")]
for name, text in cases:
    shape = parse_shape(name)
    for effort in EFFORTS:
        pages = paginate([text], shape, atlas)
        for page in render_pages(pages, shape, atlas, effort=effort, jobs=1):
            start, size = page.page.offset, page.page.length
            read = decode.read_text(png.decode(page.png), shape, atlas)
            assert read == text[start : start + size]
            print(hashlib.sha256(page.png).hexdigest())
"""

ARCHIVING = """
import sys
from pathlib import Path
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.history.session import open_session
folder = Path(sys.argv[1])
messages = [{"role": "user", "content": "\\U0001d11e and \\u4e00, no glyphs of ours"}]
(folder / "session.json").write_text(str(messages).replace("'", '"'))
options = ArchiveOptions(shape="8x16@8x16-400x100")
write_archive(open_session(folder / "session.json"), folder / "out", options)
"""


def run(program: str = PROGRAM, *arguments: str, **changes: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "kernels")]),
        "PYTHONWARNINGS": "ignore",  # NumPy tells of sums that wrap, as these are meant to
        **changes,
    }
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plain_python_writes_and_reads_the_same() -> None:
    compiled = run()
    assert compiled.count("\n") >= 3
    assert run(NUMBA_DISABLE_JIT="1") == compiled


def test_plain_python_archives_the_same(tmp_path: Path) -> None:
    folders = [tmp_path / "compiled", tmp_path / "plain"]
    for folder, disabled in zip(folders, "01", strict=True):
        folder.mkdir()
        run(ARCHIVING, str(folder), NUMBA_DISABLE_JIT=disabled)
    files = [
        {
            path.relative_to(folder): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        for folder in folders
    ]
    assert len(files[0]) > 4
    assert files[0] == files[1]
