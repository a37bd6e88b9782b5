"""The benchmark as one HTML file without scripts or outside parts."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

from snapcompact.benchmark.report_text import headline, percent, tables
from snapcompact.pages.png import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snapcompact.benchmark.run import ReadPage

Json = dict[str, Any]
MOST_MARKS = 4000
"""Wrong cells marked on one page; beyond that a page is mostly red anyway."""

_STYLE = """\
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid #8884; }
figure { margin: 1rem 0; }
figure > svg { max-width: 100%; height: auto; background: #fff; }
.page { position: relative; max-width: 100%; border: 1px solid #8888; background: #fff; }
.page svg { display: block; width: 100%; height: auto; }
figcaption { color: #888; font-size: 90%; }
"""


def html_report(
    data: Json,
    pages: Mapping[tuple[str, str], Sequence[ReadPage]],
    drawn: Sequence[tuple[str, str]],
) -> str:
    """The report of `data`, with `drawn` plots (title, SVG) and each reading's worst page."""
    return "\n".join(_parts(data, pages, drawn)) + "\n"


def _parts(
    data: Json,
    pages: Mapping[tuple[str, str], Sequence[ReadPage]],
    drawn: Sequence[tuple[str, str]],
) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8"><title>snapcompact ratio benchmark</title>'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<style>{_STYLE}</style></head><body>"
    yield f"<h1>Ratio benchmark</h1><p>{escape(headline(data))}</p>"
    for title, svg in drawn:
        yield f"<figure>{svg}<figcaption>{escape(title)}</figcaption></figure>"
    for title, head, rows in tables(data):
        yield f"<h2>{escape(title)}</h2>"
        yield _table(head, rows)
    yield "<h2>Pages, wrongly read cells marked</h2>"
    for (shape, reader), read in pages.items():
        if read:
            worst = max(read, key=lambda page: page.score.characters.rate)
            yield _page(shape, reader, worst)
    yield "</body></html>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_shown(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>'


def _shown(cell: str) -> str:
    """`cell` without what HTML forbids: control characters show as pictures of themselves."""
    visible = {code: 0x2400 + code for code in range(32)}
    return cell.translate(visible)


def _page(shape: str, reader: str, read: ReadPage) -> str:
    """One page as SVG: the picture, and a frame on each cell that was read wrong."""
    picture = read.page.picture
    size = picture.shape
    height = decode(picture.data).height
    wrong = sorted(set(read.score.wrong_places))
    marks = "".join(
        f"M{column * size.pitch_width} {row * size.pitch_height}"
        f"h{size.pitch_width}v{size.pitch_height}h-{size.pitch_width}z"
        for row, column in (divmod(place, size.grid_columns) for place in wrong[:MOST_MARKS])
    )
    data = b64encode(picture.data).decode()
    caption = (
        f"{shape}, {reader}: {picture.name}, its worst of the sample; CER "
        f"{percent(read.score.characters.rate)}, {len(wrong):,} cells wrong"
    )
    return (
        f'<figure><div class="page"><svg viewBox="0 0 {size.page_width} {height}" '
        f'role="img" aria-label="page">'
        f'<image width="{size.page_width}" height="{height}" '
        f'href="data:image/png;base64,{data}"/>'
        f'<path d="{marks}" fill="#e0202055" stroke="#e02020"/></svg></div>'
        f"<figcaption>{escape(_shown(caption))}</figcaption></figure>"
    )
