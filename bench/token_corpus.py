"""Gathers text for bench/calibrate_tokens.py from what a machine has: OUT/<kind>/<group>.txt.

    python bench/token_corpus.py OUT --transcripts training-transcripts.zip TREE...

A TREE is any folder: site-packages, /usr/share/doc, logs, unpacked Debian packages (manpages-*,
debian-handbook, installation-guide, wordpress-l10n, libreoffice-help-*, firefox-esr-l10n-*,
fortunes-*), unpacked wheels with translations (django, sphinx, wagtail). Kinds: transcript, python,
markdown, json, doc, log, prose, and one per language (``lang-ru``). A group is what must not be
split between fit and test: a repository, a package, a translated document.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import html
import re
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

GROUP_BYTES = 300_000
"""Text taken from one group at most, so that no package outweighs the others."""
PIECE_BYTES = 40_000
"""Text taken from one file at most."""

LANGUAGE_CODES = (
    "ar bg bn cs da de el es fa fi fr he hi hu id it ja ka ko my nl pl pt ro ru sv ta te th tr uk "
    "ur vi zh"
)
LATIN_CODES = "cs da de es fi fr hu id it nl pl pt ro sv tr vi"
LANGUAGES = tuple(LANGUAGE_CODES.split())
NON_LATIN = re.compile(r"[\u0370-\U0010ffff]")
OWN_SCRIPT = set(LANGUAGES) - set(LATIN_CODES.split())


def language_of(part: str) -> str:
    """The language a folder or file name such as ``pt_BR`` or ``zh-CN`` stands for, or nothing."""
    code = re.split(r"[-_@.]", part)[0]
    return code if code in LANGUAGES else ""


def plain_roff(text: str) -> str:
    lines = [line for line in text.split("\n") if not line.startswith((".", "'"))]
    return re.sub(r"\\f[A-Z]|\\f\[[A-Z]*\]|\\&|\\\||\\\^", "", "\n".join(lines)).replace("\\-", "-")


def plain_html(text: str) -> str:
    body = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", "", text)
    return re.sub(r"\n\s*\n+", "\n\n", html.unescape(re.sub(r"<[^>]*>", "", body)))


def po_strings(text: str) -> str:
    found = re.findall(r'(?m)^msgstr(?:\[\d\])? ((?:"(?:[^"\\]|\\.)*"\n?)+)', text)
    joined = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', entry)) for entry in found[1:]]
    return "\n".join(entry.replace("\\n", "\n").replace('\\"', '"') for entry in joined if entry)


def mo_strings(path: Path) -> str:
    with path.open("rb") as file:
        catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return "\n".join(value for key, value in catalog.items() if key and isinstance(value, str))


def read_text(path: Path) -> str:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def ftl_strings(path: Path) -> str:
    """Messages of a Firefox language pack."""
    lines: list[str] = []
    with zipfile.ZipFile(path) as pack:
        for name in sorted(pack.namelist()):
            if name.endswith(".ftl"):
                lines += pack.read(name).decode("utf-8", "replace").split("\n")
    return "\n".join(line.split(" = ", 1)[-1].strip() for line in lines if line[:1] != "#")


Found = tuple[str, str, str]
"""(language or kind, group, text)."""
BOOKS = ("debian-handbook", "installation-guide-amd64", "debian-reference", "help")


def catalog(path: Path) -> Found | None:
    """Translated messages of a program."""
    parts = path.parts
    if path.suffix == ".po" and "LC_MESSAGES" in parts:
        at = parts.index("LC_MESSAGES")
        source = parts[parts.index("whl") + 1] if "whl" in parts else parts[0]
        return language_of(parts[at - 1]), f"po-{source}", po_strings(read_text(path))
    if path.suffix == ".mo" and "languages" in parts:
        return language_of(path.stem.removeprefix("admin-")), "wordpress", mo_strings(path)
    if path.suffix == ".xpi" and path.name.startswith("langpack-"):
        return language_of(path.stem.removeprefix("langpack-")), "firefox", ftl_strings(path)
    return None


def document(path: Path) -> Found | None:
    """A man page, a page of a book, or a fortune file, translated or not."""
    parts = path.parts
    if "man" in parts and re.fullmatch(r".*\.\d\w*\.gz", path.name):
        return language_of(parts[parts.index("man") + 1]), "man", plain_roff(read_text(path))
    if "fortunes" in parts and not path.suffix:
        return language_of(path.parent.name) or "en", "fortunes", read_text(path)
    book = next((book for book in BOOKS if book in parts), "") if path.suffix == ".html" else ""
    if not book:
        return None
    tail = parts[parts.index(book) + 1 :]
    language = next(filter(None, map(language_of, tail)), "")
    english = "en" if "en" in tail or "en-US" in tail else ""
    return language or english, book, plain_html(read_text(path))


PLAIN_KINDS = {".py": "python", ".md": "markdown", ".json": "json"}


def package_of(path: Path) -> str:
    """The package a file belongs to: what follows a folder of packages, else its own folder."""
    parts = path.parts
    for shelf in ("site-packages", "whl", "node_modules", "data", "lib", "doc"):
        if shelf in parts[:-1]:
            return parts[len(parts) - parts[::-1].index(shelf)]
    return path.parent.name


def plain(path: Path) -> Found | None:
    """A source file, a description of a package, or a log."""
    if path.suffix == ".log":
        return "log", path.stem, read_text(path)
    if path.name == "METADATA":
        return "markdown", path.parent.name.split("-")[0], read_text(path)
    if path.name.startswith(("README", "NEWS")) and path.suffix in ("", ".gz", ".Debian"):
        return "doc", f"doc-{package_of(path)[:1]}", read_text(path)
    kind = PLAIN_KINDS.get(path.suffix)
    return (kind, package_of(path), read_text(path)) if kind else None


def gather(tree: Path) -> Iterator[Found]:
    """(kind, group, text) of every usable file of `tree`, in the order of their paths."""
    for path in sorted(tree.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > 4_000_000:
            continue
        found = catalog(path) or document(path) or plain(path)
        if found is None or not found[0]:
            continue
        kind, group, text = found
        if kind in OWN_SCRIPT:  # parts left untranslated do not count as the language
            text = "\n".join(p for p in text.split("\n") if len(NON_LATIN.findall(p)) * 4 > len(p))
        if kind in LANGUAGES:
            kind = f"lang-{kind}"
        yield ("prose" if kind == "en" else kind), group, text


def transcripts(archive: Path) -> Iterator[Found]:
    """(kind, group, text) of each transcript; its group is the repository, its first word."""
    with zipfile.ZipFile(archive) as pack:
        for name in sorted(pack.namelist()):
            yield "transcript", Path(name).stem, pack.read(name).decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--transcripts", type=Path)
    parser.add_argument("trees", nargs="*", type=Path)
    args = parser.parse_intermixed_args()  # TREE... may stand behind an option
    pieces: dict[tuple[str, str], list[str]] = defaultdict(list)
    sizes: dict[tuple[str, str], int] = defaultdict(int)
    for tree in args.trees:
        for kind, group, text in gather(tree):
            key = (kind, re.sub(r"\W+", "-", group))
            if sizes[key] < GROUP_BYTES and len(text) > 200:
                pieces[key].append(text[:PIECE_BYTES])
                sizes[key] += len(text[:PIECE_BYTES].encode())
    if args.transcripts:
        for kind, group, text in transcripts(args.transcripts):
            pieces[kind, group] = [text]
    for (kind, group), texts in pieces.items():
        path = args.out / kind / f"{group}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = unicodedata.normalize("NFC", "\n".join(texts))  # ctok normalises, and moves marks
        path.write_bytes(text.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
