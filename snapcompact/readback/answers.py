"""A folder of raw answers: what was asked once is never asked, or billed, again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from snapcompact.errors import InputError
from snapcompact.files import read_bounded, write_atomic
from snapcompact.history.model import Usage
from snapcompact.llm.contract import MOST_ANSWER_CHARS, Completion, Stop
from snapcompact.readback.prompt import prompt

if TYPE_CHECKING:
    from pathlib import Path

    from snapcompact.readback.reader import PagePicture

_MOST_BYTES = 6 * MOST_ANSWER_CHARS + (1 << 16)


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers in `folder`, a JSON file each, by the hash of model, prompt and picture."""

    folder: Path

    def key(self, model: str, page: PagePicture) -> str:
        """The name of the answer of `model` to `page`; letters and digits, 40 of them."""
        return answer_key(model.encode(), prompt(page.shape).encode(), page.data)

    def get(self, key: str) -> Completion | None:
        """The answer kept under `key`. Raises InputError where its file is damaged."""
        path = self.folder / f"{key}.json"
        if not path.exists():
            return None
        try:
            value: Any = orjson.loads(read_bounded(path, _MOST_BYTES))
            usage = None if value["usage"] is None else Usage(**value["usage"])
            return Completion(
                str(value["text"]),
                Stop(value["stop"]),
                usage,
                str(value["model"]),
                str(value["raw_stop"]),
                int(value["attempts"]),
            )
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: not an answer kept by this program; delete it") from error

    def put(self, key: str, name: str, completion: Completion) -> None:
        """Keep `completion` as the answer to the page called `name`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        value = {"page": name, **asdict(completion)}
        write_atomic(self.folder / f"{key}.json", orjson.dumps(value, option=orjson.OPT_INDENT_2))


def answer_key(*parts: bytes) -> str:
    """The name of the answer to what `parts` ask; letters and digits, 40 of them."""
    digest = sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:40]
