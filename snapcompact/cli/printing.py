"""What ``snapcompact fonts`` and its commands do."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from snapcompact.cli.console import counted, printable, say, say_json, table
from snapcompact.cli.output import write_out
from snapcompact.fonts.atlas import load_atlas
from snapcompact.fonts.check import Pair, Report, check_font
from snapcompact.fonts.load import font_names, load_font

MOST_TWINS = 20


def run_list(*, as_json: bool) -> None:
    """Print the shipped fonts."""
    reports = [check_font(load_font(name)) for name in font_names()]
    if as_json:
        say_json([asdict(report) for report in reports])
        return
    head = ["font", "cell", "glyphs", "least distance", "closest ASCII", "ranges"]
    rows = [
        [
            report.name,
            f"{report.width}x{report.height}",
            report.glyphs,
            report.closest[0].distance,
            " ".join(map(_pair, report.closest[:4])),
            ", ".join(entry.name for entry in report.coverage),
        ]
        for report in reports
    ]
    for line in table(head, rows):
        say(line)
    say()
    say("Any BDF, PCF, TTF or OTF file can be used by its path; `snapcompact fonts check FILE`")


def run_check(name: str, *, as_json: bool) -> None:
    """Print the report on one font."""
    report = check_font(load_font(name))
    if as_json:
        say_json(asdict(report))
        return
    _print_report(report)


def run_specimen(name: str, output: Path | None) -> None:
    """Write the sheet of a font's glyphs, a PNG."""
    from snapcompact.pages.specimen import specimen

    write_out([specimen(load_atlas(name))], output)


def _print_report(report: Report) -> None:
    say(
        f"{printable(report.name)}: cell {report.width}x{report.height} px, "
        f"{counted(report.glyphs, 'glyph')}, {report.wide:,} of them wide"
    )
    say()
    rows = [[e.name, f"U+{e.first:04X}", e.drawn, e.size] for e in report.coverage]
    for line in table(["range", "from", "drawn", "of"], rows):
        say(line)
    say()
    say(f"drawn alike: {counted(len(report.twins), 'group')}; all but the first become escapes")
    for codes in report.twins[:MOST_TWINS]:
        say("  " + " ".join(f"{_shown(code)} U+{code:04X}" for code in codes))
    if len(report.twins) > MOST_TWINS:
        say(f"  and {len(report.twins) - MOST_TWINS:,} more")
    say()
    say("closest pairs of ASCII, by pixels that differ:")
    for pair in report.closest:
        say(f"  {pair.distance:>3}  {_pair(pair)}")


def _pair(pair: Pair) -> str:
    return f"{_shown(pair.first)}{_shown(pair.second)}"


def _shown(code: int) -> str:
    return "␣" if code == 32 else printable(chr(code))
