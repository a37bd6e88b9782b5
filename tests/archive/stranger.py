"""Reads an archive as a stranger would: after FORMAT.md alone, with Pillow and zstandard.

Nothing of this project is imported here, on purpose.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from pathlib import Path

from PIL import Image

Glyph = tuple[int, str, list[int], int]
"""Code point (-1 none), name, pixel rows as integers, cells across."""


def read_glyphs(path: Path) -> tuple[int, int, list[Glyph]]:
    """Cell width and height of a BDF file, and its glyphs."""
    width = height = 0
    glyphs: list[Glyph] = []
    rows: list[int] = []
    name, code, cells, bitmap = "", -1, 1, False
    for line in path.read_text("utf-8").split("\n"):
        word, _, rest = line.partition(" ")
        if word == "FONTBOUNDINGBOX":
            width, height = map(int, rest.split()[:2])
        elif word == "STARTCHAR":
            name, rows = rest, []
        elif word == "ENCODING":
            code = int(rest)
        elif word == "DWIDTH":
            cells = int(rest.split()[0]) // width
        elif word == "BITMAP":
            bitmap = True
        elif word == "ENDCHAR":
            bitmap = False
            glyphs.append((code, name, rows, cells))
        elif bitmap:
            spare = len(line) * 4 - width * cells
            rows.append(int(line, 16) >> spare)
    return width, height, glyphs


def glyph_chunk(page: Path) -> bytes:
    """The body of a page's ``snGl`` chunk, unpacked."""
    data = page.read_bytes()
    at = 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        if data[at + 4 : at + 8] == b"snGl":
            return zlib.decompress(data[at + 8 : at + 8 + size])
        at += 12 + size
    return b""


def carried_cell(page: Path) -> tuple[int, int]:
    """Cell width and height of the glyphs that a page carries."""
    _, width, height = glyph_chunk(page)[:3]
    return width, height


def carried_glyphs(page: Path) -> list[Glyph]:
    """The glyphs that a page carries."""
    chunk = glyph_chunk(page)
    if not chunk:
        return []
    _, width, height, count = struct.unpack_from(">BBBH", chunk)
    codes = struct.unpack_from(f">{count}I", chunk, 5)
    at, glyphs = 5 + 4 * count, []
    names = ("snap.end", "snap.pad", "snap.point_open", "snap.close", "snap.byte_open")
    for marked in codes:
        wide, code = divmod(marked, 1 << 31)
        cells = []
        for _ in range(1 + wide):
            size = (width * height + 7) // 8
            bits = f"{int.from_bytes(chunk[at : at + size]):0{8 * size}b}"
            cells.append([bits[y * width : (y + 1) * width] for y in range(height)])
            at += size
        rows = [int("".join(parts), 2) for parts in zip(*cells, strict=True)]
        special = names[code - 0x110000] if code >= 0x110000 else ""
        glyphs.append((-1 if special else code, special, rows, 1 + wide))
    return glyphs


def read_pages(archive: Path) -> list[Path]:
    """The page files in order."""
    manifest = json.loads((archive / "manifest.json").read_text("utf-8"))
    covered = (archive / "pages.jsonl").read_bytes()[: manifest["lengths"].get("pages.jsonl", 0)]
    rows = [json.loads(line) for line in covered.split(b"\n") if line]
    return [archive / row["file"] for row in [*rows, manifest["last_page"]]]


def read_page(path: Path, shape: str, font: tuple[int, int, list[Glyph]]) -> bytes:
    """The text of one page, from its pixels."""
    width, height, glyphs = font
    match = re.match(r"[^@]+@(\d+)x(\d+)-(\d+)x(\d+)$", shape)
    assert match is not None
    pitch_x, pitch_y, page_width, _ = map(int, match.groups())
    left, top = (pitch_x - width) // 2, (pitch_y - height) // 2
    picture = Image.open(path)
    pixels = picture.load()
    assert pixels is not None
    by_rows = {tuple(rows): (code, name) for code, name, rows, cells in glyphs if cells == 1}
    wide = {tuple(rows): code for code, _, rows, cells in glyphs if cells == 2}
    out, escape = b"", None

    def cell_at(row: int, column: int) -> tuple[int, ...]:
        x, y = column * pitch_x + left, row * pitch_y + top
        return tuple(
            sum((pixels[x + i, y + j] != 0) << (width - 1 - i) for i in range(width))
            for j in range(height)
        )

    for row in range(picture.height // pitch_y):
        cells = [cell_at(row, column) for column in range(page_width // pitch_x)]
        at = 0
        while at < len(cells):
            pair = tuple(
                a << width | b
                for next_one in cells[at + 1 : at + 2]
                for a, b in zip(cells[at], next_one, strict=True)
            )
            if pair in wide:
                out += chr(wide[pair]).encode("utf-8")
                at += 2
                continue
            code, name = by_rows[cells[at]]
            at += 1
            if name == "snap.end":
                return out
            if name in ("snap.point_open", "snap.byte_open"):
                escape = (name, "")
            elif name == "snap.close":
                assert escape is not None
                out += chr(int(escape[1], 16)).encode("utf-8", "surrogatepass")
                escape = None
            elif escape is not None:
                escape = (escape[0], escape[1] + chr(code))
                if escape[0] == "snap.byte_open" and len(escape[1]) == 2:
                    out += bytes([int(escape[1], 16)])
                    escape = None
            elif name != "snap.pad":
                out += chr(code).encode("utf-8")
    return out


def read_lone(path: Path, shape: str, fonts: Path) -> bytes:
    """The text of a page by the glyphs it carries and the shipped font, if it is set in one."""
    name = shape.partition("@")[0]
    carried = carried_glyphs(path)
    shipped = fonts / f"{name}.bdf"
    if shipped.is_file():
        width, height, glyphs = read_glyphs(shipped)
        return read_page(path, shape, (width, height, glyphs + carried))
    width, height = carried_cell(path)
    blank: Glyph = (32, "U+0020", [0] * height, 1)
    return read_page(path, shape, (width, height, [blank, *carried]))


def read_transcript(archive: Path) -> bytes:
    """The transcript of an archive with one column of packed text."""
    manifest = json.loads((archive / "manifest.json").read_text("utf-8"))
    small = next(name for name in manifest["hashes"] if name.startswith("glyphs"))
    font = read_glyphs(archive / small)
    shape = manifest["options"]["shape"]
    return b"".join(read_page(page, shape, font) for page in read_pages(archive))
