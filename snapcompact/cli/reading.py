"""What ``snapcompact read`` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from snapcompact.cli.console import note, printable, progress, say, size, warn
from snapcompact.cli.kernels import announce_compiling
from snapcompact.cli.output import write_out
from snapcompact.errors import PageError, PartialResultError, UsageError
from snapcompact.files import cache_dir
from snapcompact.readback.lone import picture_pages, read_lone_pages
from snapcompact.readback.reader import (
    VISION,
    PagePicture,
    Reader,
    ReaderOptions,
    Reading,
    open_reader,
    read_pages,
)


@dataclass(frozen=True, slots=True)
class Request:
    """The command's arguments."""

    pages: tuple[Path, ...]
    reader: str
    shape: str
    glyphs: Path | None
    output: Path | None
    options: ReaderOptions
    answers: Path | None
    base_url: str
    key_env: str
    max_usd: float | None
    dry_run: bool
    again: bool
    batch: str
    collect: Path | None

    @property
    def model(self) -> str:
        """The vision model's name. Raises UsageError for another reader."""
        if not self.reader.startswith(VISION):
            raise UsageError(
                f"--batch, --collect, --dry-run and --max-cost are for --reader {VISION}MODEL; "
                f"the reader here is {self.reader!r}"
            )
        return self.reader.removeprefix(VISION)


def run_read(request: Request, *, quiet: bool) -> None:
    """Read the pages of `request` and write their text."""
    announce_compiling(quiet=quiet)
    if request.dry_run or request.batch or request.collect or request.max_usd is not None:
        _ = request.model
    if request.reader == "exact":
        _read_exactly(request, quiet=quiet)
    elif request.batch:
        _write_batch(request)
    elif request.dry_run:
        _say_bill(request)
    else:
        _read(request, quiet=quiet)


def _read_exactly(request: Request, *, quiet: bool) -> None:
    guessed: list[str] = []

    def texts() -> Iterator[bytes]:
        for page in read_lone_pages(request.pages, shape=request.shape, glyphs=request.glyphs):
            if page.unsure:
                row, column = page.unsure[0]
                guessed.append(
                    f"{page.name}: {len(page.unsure):,} characters are guesses, "
                    f"first row {row} column {column}"
                )
            elif page.other:
                guessed.append(f"{page.name}: this is not the text that it was printed with")
            yield page.text

    write_out(texts(), request.output)
    _refuse_guesses(guessed, quiet=quiet)


def _refuse_guesses(guessed: list[str], *, quiet: bool) -> None:
    """Warn of each page with guesses, and raise PageError if there is one."""
    for line in guessed:
        warn(printable(line), quiet=quiet)
    if guessed:
        raise PageError(f"{len(guessed)} pages are damaged; what could be read was written")


def _pages(request: Request) -> Iterator[PagePicture]:
    return picture_pages(request.pages, shape=request.shape, glyphs=request.glyphs)


def _read(request: Request, *, quiet: bool) -> None:
    """Read with any reader; what is not whole is said, and ends in PartialResultError."""
    reader = _open(request, quiet=quiet)
    torn: list[str] = []

    def texts() -> Iterator[bytes]:
        names: list[str] = []

        def named() -> Iterator[PagePicture]:
            for page in _pages(request):
                names.append(page.name)
                yield page

        with progress("reading", "pages", quiet=quiet) as bar:
            for number, reading in enumerate(read_pages(reader, named())):
                if not reading.whole:
                    torn.append(f"{names[number]}: {reading.note}")
                bar.advance()
                yield _text(reading)

    write_out(texts(), request.output)
    for line in torn:
        warn(printable(line), quiet=quiet)
    if torn:
        raise PartialResultError(
            f"{len(torn)} pages were not read whole; answers are kept, and the same command asks "
            "only for what is missing (--again for what was cut or refused)"
        )


def _text(reading: Reading) -> bytes:
    """The rows as lines."""
    return "".join(f"{row}\n" for row in reading.rows).encode("utf-8", "surrogatepass")


def _open(request: Request, *, quiet: bool) -> Reader:
    if not request.reader.startswith(VISION):
        return open_reader(request.reader, request.options)
    from snapcompact.llm.client import Client, find_endpoint
    from snapcompact.readback.answers import Answers
    from snapcompact.readback.batch import collect_batch
    from snapcompact.readback.vision import open_vision

    answers = Answers(_answer_folder(request))
    client = None
    if request.collect:
        taken = collect_batch(request.collect, answers)
        if not quiet:
            note(f"{taken.kept:,} answers taken in, {taken.known:,} known already")
        for line in taken.failed:
            warn(printable(line), quiet=quiet)
    else:
        endpoint = find_endpoint(request.model, base_url=request.base_url, key_env=request.key_env)
        client = Client(endpoint)
    return open_vision(
        request.model,
        answers,
        client,
        jobs=request.options.jobs,
        max_usd=request.max_usd,
        again=request.again,
        tell=lambda line: warn(printable(line), quiet=quiet),
    )


def _answer_folder(request: Request) -> Path:
    return request.answers or cache_dir() / "answers"


def _write_batch(request: Request) -> None:
    from snapcompact.readback.answers import Answers
    from snapcompact.readback.batch import write_batch

    if request.output is None:
        raise UsageError("--batch writes several files: name a folder with -o")
    answers = Answers(_answer_folder(request))
    for file in write_batch(request.batch, request.model, _pages(request), answers, request.output):
        say(f"{printable(str(file.path))}: {file.requests:,} requests, {size(file.bytes)}")


def _say_bill(request: Request) -> None:
    from snapcompact.readback.answers import Answers
    from snapcompact.readback.spend import whole_bill
    from snapcompact.readback.vision import open_vision

    reader = open_vision(
        request.model, Answers(_answer_folder(request)), None,
        max_usd=request.max_usd, again=request.again,
    )  # fmt: skip
    bill = whole_bill(reader.found, filter(reader.wanted, _pages(request)))
    cost = "price unknown" if bill.usd is None else f"at most ${bill.usd:,.4f}"
    say(
        f"{bill.pages:,} pages to ask of {printable(request.model)}: {bill.input_tokens:,} tokens "
        f"in, at most {bill.output_tokens:,} out, {cost}"
    )
