"""The benchmark's plots as SVG text. Needs matplotlib (extra ``plot``).

matplotlib and not plotly: its SVG is a few KB a plot and needs no script, plotly's page carries
4 MB of it.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from snapcompact.benchmark.pareto import points
from snapcompact.llm.extras import need

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_LEAST = 1e-5
"""Where a rate of 0 is drawn on a logarithmic axis."""


def plots(data: Json) -> list[tuple[str, str]]:
    """(title, SVG) of each plot. Raises MissingExtraError."""
    need("matplotlib", "plot").use("svg")
    return [*_trade_offs(data), *_recalls(data)]


def _trade_offs(data: Json) -> Iterator[tuple[str, str]]:
    """Characters a token against CER, a plot a model, a colour a reader."""
    from matplotlib.figure import Figure

    for model in data["text_tokens"]:
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.add_subplot()
        drawn = False
        for reader in dict.fromkeys(r["reader"] for r in data["readings"]):
            found = points(data, model, reader)
            drawn = drawn or bool(found)
            gains = [gain for _, gain, _ in found]
            axes.scatter(gains, [max(cer, _LEAST) for _, _, cer in found], label=reader, s=42)
            for name, gain, cer in found:
                axes.annotate(name, (gain, max(cer, _LEAST)), xytext=(0, 6), ha="center",
                              textcoords="offset points", fontsize=7)  # fmt: skip
        if drawn:
            axes.set(
                xlabel="characters a token (dear end)",
                ylabel=f"CER (0 stands at {_LEAST:g})",
                yscale="log",
            )
            axes.margins(x=0.35, y=0.25)
            axes.grid(visible=True, alpha=0.3)
            axes.legend()
            yield f"What a token of {model} holds, and how well it is read", _svg(figure)


def _recalls(data: Json) -> Iterator[tuple[str, str]]:
    """Exact words that came back, a bar a shape and reader with its interval."""
    from matplotlib.figure import Figure

    readings = data["readings"]
    if not readings:
        return
    figure = Figure(figsize=(7.5, 0.8 + 0.34 * len(readings)), layout="constrained")
    axes = figure.add_subplot()
    names = [f"{r['shape']}, {r['reader']}" for r in readings]
    rates = [r["exact_recall"] for r in readings]
    values = [100 * rate["value"] for rate in rates]
    below = [max(0.0, 100 * (rate["value"] - rate["low"])) for rate in rates]
    above = [max(0.0, 100 * (rate["high"] - rate["value"])) for rate in rates]
    axes.barh(names, values, xerr=[below, above], color="#4a7ab5", ecolor="#222222", capsize=2)
    axes.set(xlabel="exact words that came back, %", xlim=(0, 105))
    axes.invert_yaxis()
    axes.tick_params(labelsize=8)
    yield "Exact words", _svg(figure)


def _svg(figure: Any) -> str:
    out = io.StringIO()
    # Without a date and with fixed ids the same figures give the same bytes.
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "snapcompact"}):
        figure.savefig(out, format="svg", metadata=_NO_METADATA)
    return out.getvalue()[out.getvalue().index("<svg") :]
