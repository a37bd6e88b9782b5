from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.errors import UnknownNameError
from snapcompact.payload.compose import ImagePart, Payload, TextPart
from snapcompact.payload.request import FORMATS, request
from snapcompact.providers.catalog import APIS, load_catalog

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
PAYLOAD = Payload(
    "some-family",
    (
        TextPart("guide", "How to read: … ¶"),
        ImagePart(PNG, 100, 200, full=True),
        ImagePart(PNG, 100, 200, full=True),
        ImagePart(PNG, 100, 40, full=False),
        TextPart("newest", "the end \ufffd"),
    ),
    text_tokens=10,
    image_tokens=30,
    whole_text_tokens=None,
    plan=None,
)


def sent(api: str, detail: str = "") -> dict[str, Any]:
    """The request as it arrives: through JSON and back."""
    made: dict[str, Any] = json.loads(json.dumps(request(PAYLOAD, api, "some-model", detail)))
    return made


def test_every_api_of_the_catalog_has_a_format() -> None:
    assert set(FORMATS) == set(APIS)
    assert {m.api for m in load_catalog().models} <= set(FORMATS)


def test_an_unknown_api_is_named() -> None:
    with pytest.raises(UnknownNameError, match="smtp"):
        request(PAYLOAD, "smtp", "m")


def test_anthropic_blocks_are_the_sdks() -> None:
    types = pytest.importorskip("anthropic.types", reason="the extra [anthropic] is not installed")
    pydantic = pytest.importorskip("pydantic")
    body = sent("anthropic")
    strict = pydantic.ConfigDict(extra="forbid")
    for message in body["messages"]:
        pydantic.TypeAdapter(types.MessageParam).validate_python(message, strict=False)
        for block in message["content"]:
            kind = {"text": types.TextBlockParam, "image": types.ImageBlockParam}[block["type"]]
            closed = pydantic.with_config(strict)(kind)
            pydantic.TypeAdapter(closed).validate_python(block)
    marked = [b for b in body["messages"][0]["content"] if "cache_control" in b]
    assert marked == [body["messages"][0]["content"][2]]
    assert body["max_tokens"] > 0


def test_openai_responses_content_is_the_sdks() -> None:
    types = pytest.importorskip(
        "openai.types.responses", reason="the extra [openai] is not installed"
    )
    pydantic = pytest.importorskip("pydantic")
    body = sent("openai-responses", "original")
    pydantic.TypeAdapter(types.ResponseInputParam).validate_python(body["input"])
    for part in body["input"][0]["content"]:
        kind = {
            "input_text": types.ResponseInputTextParam,
            "input_image": types.ResponseInputImageParam,
        }[part["type"]]
        checked = pydantic.TypeAdapter(kind).validate_python(part)
        assert set(checked) == set(part)
    assert body["input"][0]["content"][1]["detail"] == "original"


@pytest.mark.parametrize(
    ("detail", "sent_as"), [("high", "high"), ("original", "auto"), ("", "auto")]
)
def test_openai_chat_content_is_the_sdks(detail: str, sent_as: str) -> None:
    types = pytest.importorskip("openai.types.chat", reason="the extra [openai] is not installed")
    pydantic = pytest.importorskip("pydantic")
    body = sent("openai-chat", detail)
    for message in body["messages"]:
        pydantic.TypeAdapter(types.ChatCompletionUserMessageParam).validate_python(message)
        for part in message["content"]:
            kind = {
                "text": types.ChatCompletionContentPartTextParam,
                "image_url": types.ChatCompletionContentPartImageParam,
            }[part["type"]]
            checked = pydantic.TypeAdapter(kind).validate_python(part)
            assert set(checked) == set(part)
    image = body["messages"][0]["content"][1]["image_url"]
    assert image["detail"] == sent_as
    assert image["url"].startswith("data:image/png;base64,")


def test_gemini_contents_are_the_sdks() -> None:
    types = pytest.importorskip("google.genai.types", reason="the extra [gemini] is not installed")
    body = sent("gemini")
    for content in body["contents"]:
        checked = types.Content.model_validate(content)
        assert checked.role == "user"
        assert [p.text for p in checked.parts if p.text] == ["How to read: … ¶", "the end \ufffd"]
        images = [p.inline_data for p in checked.parts if p.inline_data]
        assert [(i.mime_type, i.data) for i in images] == [("image/png", PNG)] * 3
