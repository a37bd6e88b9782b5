"""A finished archive's folder as one zip: stored, in order of names, with fixed times.

Stored, since PNG and zstd are packed already and a stored member can be read at any place.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip can hold; the same for all, so that two runs give the same bytes."""
_MODE = 0o100600 << 16


def pack(folder: Path, out: Path) -> None:
    """Write all files below `folder` to the zip `out` (private, synced)."""
    descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _TIME)
                info.external_attr = _MODE
                info.file_size = path.stat().st_size  # so that members over 2 GiB become zip64
                with open(path, "rb") as source, archive.open(info, "w") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        file.flush()
        os.fsync(file.fileno())
