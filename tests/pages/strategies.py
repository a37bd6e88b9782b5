"""What pages are tested with: bytes of every kind, shapes of every geometry."""

from __future__ import annotations

from hypothesis import strategies as st

from snapcompact.pages.shape import Shape

_TEXTS = st.text(
    st.sampled_from("ab 0F⟦\t\n\n\r\0\x7f\x80\xa0éΩя字一二丁🌀😀\ufffd\ufffe\U0010ffff")
    | st.characters(),
    max_size=60,
)
_PIECES = st.one_of(
    _TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=20),
    st.sampled_from(
        [
            b"plain ascii text, a line of it\n" * 9,
            b"\xed\xa0\x80\xed\xb0\x80",
            b"\xe4\xb8",
            b"\xf4\x90",
        ]
    ),
    st.integers(1, 400).map(lambda n: b"x" * n),
)

texts = st.lists(_PIECES, max_size=12).map(b"".join)
"""Any bytes: valid UTF-8 with and without glyphs, surrogates, broken sequences, long plain runs."""


@st.composite
def shapes(draw: st.DrawFn, width: int = 8, height: int = 16) -> Shape:
    """Small pages of any pitch that `width` by `height` glyphs fit, columns and layouts."""
    pitch_width = draw(st.integers(width, width + 9))
    pitch_height = draw(st.integers(height, height + 7))
    columns = draw(st.integers(1, 4))
    gutter = draw(st.integers(0, 3))
    header = draw(st.booleans())
    cells = draw(st.integers(40 if header else 8 * columns + 6, 60))
    rows = draw(st.integers(3, 6))
    return Shape(
        "made-up",
        pitch_width,
        pitch_height,
        cells * pitch_width + draw(st.integers(0, pitch_width - 1)),
        rows * pitch_height + draw(st.integers(0, pitch_height - 1)),
        columns=columns,
        gutter=gutter,
        layout=draw(st.sampled_from(["packed", "lines"])),
        header=header,
        indent=draw(st.booleans()),
        ink=draw(st.sampled_from(["black", "black", "dim", "role", "sentence"])),
    )
