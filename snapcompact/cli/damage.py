"""What reading a session met of damage, said on stderr."""

from __future__ import annotations

from snapcompact.cli.console import printable, warn
from snapcompact.history.report import DAMAGE, Report


def report_damage(name: str, report: Report, *, quiet: bool) -> None:
    """Warn of every kind of damage that reading met, with its first lines."""
    for kind, count in report.damage.counts.items():
        where = ", ".join(map(str, report.damage.lines.get(kind, [])))
        more = " …" if count > len(report.damage.lines.get(kind, [])) else ""
        place = f" (line {where}{more})" if where else ""  # an append knows no lines of old damage
        warn(f"{printable(name)}: {count:,} × {DAMAGE[kind]}{place}", quiet=quiet)
    for remark in report.notes:
        warn(f"{printable(name)}: {printable(remark)}", quiet=quiet)
