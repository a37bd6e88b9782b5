from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import InputError
from snapcompact.providers.catalog import Catalog, load_catalog, match

FAMILIES = {
    "claude-opus-4-7": "claude-4.7",
    "claude-opus-4.8": "claude-4.7",
    "claude-sonnet-5": "claude-4.7",
    "claude-opus-5-5-20260901": "claude-4.7",
    "claude-fable-5": "claude-4.7",
    "claude-mythos-preview": "claude-4.7",
    "claude-3-5-sonnet-20241022": "claude-3",
    "claude-opus-4-20250514": "claude-3",
    "claude-sonnet-4-5-20250929": "claude-3",
    "claude-opus-4-6": "claude-3",
    "claude-haiku-4-5": "claude-3",
    "claude-2.1": "claude-2",
    "claude-next": "claude",
    "gpt-5.5": "gpt-5.4",
    "gpt-5.2-codex": "gpt-5.2",
    "gpt-5-2025-08-07": "gpt-5",
    "gpt-5-mini": "gpt-mini",
    "gpt-5.4-nano": "gpt-nano",
    "gpt-4.1-2025-04-14": "gpt-4o",
    "gpt-4.1-mini": "gpt-mini",
    "gpt-4o-mini": "gpt-4o-mini",
    "gpt-4-0613": "gpt-4",
    "o1-pro": "openai-o",
    "o4-mini": "gpt-mini",
    "gemini-3.5-flash": "gemini-3",
    "models/gemini-2.5-pro": "gemini-2",
    "google/gemma-3-27b-it": "gemma-3",
    "x-ai/grok-4": "grok",
    "Qwen/Qwen3-VL-235B-A22B": "qwen-vl",
    "qwen/qwen3-coder": "qwen",
    "meta-llama/Llama-3.3-70B-Instruct": "llama",
    "deepseek-ai/DeepSeek-V3": "deepseek",
    "mistralai/Mistral-Large": "mistral",
    "openrouter/anthropic/claude-sonnet-4.5": "claude-3",
    "us.anthropic.claude-opus-4-7-v1:0": "claude-4.7",
    "anthropic.claude-3-haiku-20240307-v1:0": "claude-3",
    "vertex_ai/claude-opus-4-7@20260101": "claude-4.7",
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku": "claude-3",
    "CLAUDE-OPUS-4-7[1m]": "claude-4.7",
    "nobody-knows": "unknown",
    "o1ympus": "unknown",
    "": "unknown",
}


@cache
def catalog() -> Catalog:
    return load_catalog()


@pytest.mark.parametrize(("model_id", "family"), FAMILIES.items())
def test_ids_match_their_family(model_id: str, family: str) -> None:
    found = match(catalog(), model_id)
    assert found.model.name == family
    assert found.known == (family != "unknown")
    assert bool(found.warning) != found.known


@given(
    st.sampled_from([i for i, f in FAMILIES.items() if f != "unknown" and "arn:" not in i]),
    st.sampled_from(["", "openrouter/", "some-router/", "vertex_ai/", "a/b/c/", "us.vendor."]),
    st.booleans(),
)
def test_routers_and_case_do_not_change_the_family(model_id: str, path: str, upper: bool) -> None:
    routed = path + model_id
    found = match(catalog(), routed.upper() if upper else routed)
    assert found.model.name == FAMILIES[model_id]


@given(st.text(max_size=40))
def test_any_text_finds_a_row(model_id: str) -> None:
    assert match(catalog(), model_id).model in catalog().models or match(catalog(), model_id).router


def test_a_family_name_is_an_id() -> None:
    for model in catalog().models:
        assert match(catalog(), model.name).model.name == model.name, model.name


def test_a_router_caps_the_images() -> None:
    assert match(catalog(), "openrouter/openai/gpt-5.5").model.caps.images.high == 90
    assert match(catalog(), "gpt-5.5").model.caps.images.low == 200


def test_an_unknown_model_is_counted_with_care_and_says_so() -> None:
    found = match(catalog(), "nobody/knows-1")
    assert found.model.caps.images.high == 5
    assert "nobody/knows-1" in found.warning


def test_rows_are_complete() -> None:
    names = [m.name for m in catalog().models]
    assert len(set(names)) == len(names)
    prefixes = [p for m in catalog().models for p in m.prefixes]
    assert len(set(prefixes)) == len(prefixes)
    for model in catalog().models:
        assert len(model.source) > 10
        assert model.caps.images.low <= model.caps.images.high
    families = {m.tokenizer for m in catalog().models}
    assert families == {
        "o200k", "cl100k", "claude-legacy", "claude-3", "claude-4.7", "llama3", "qwen3", "gemma3",
        "deepseek", "mistral",
    }  # fmt: skip


def test_prices_come_with_the_longest_prefix() -> None:
    opus = match(catalog(), "openrouter/anthropic/claude-opus-5.5").price
    assert opus is not None
    assert opus.input_usd_per_mtok.low == 4.0
    older = match(catalog(), "claude-opus-5-20260724").price
    assert older is not None
    assert older.input_usd_per_mtok.low == 5.0
    assert match(catalog(), "gpt-5.5").price is None


def test_a_users_row_replaces_single_keys_and_adds_models(tmp_path: Path) -> None:
    own = tmp_path / "models.toml"
    own.write_text(
        """
        [[model]]
        name = "gpt-5.4"
        window_tokens = 42

        [[model]]
        name = "mine"
        prefixes = ["my-model"]
        api = "openai-chat"
        tokenizer = "o200k"
        vision = true
        window_tokens = 1000
        image = { rule = "fixed", tokens = [10, 20] }
        caps = { images = 3, image_bytes = 10, request_bytes = 100 }
        shapes = ["8x16@8x16-512x512"]
        source = "me, on my machine"
        date = 2026-01-02

        [[price]]
        prefixes = ["claude-opus-5.5"]
        input_usd_per_mtok = [1, 2]
        source = "my contract"
        date = 2026-01-02
        """
    )
    changed = load_catalog(own)
    assert match(changed, "gpt-5.5").model.window_tokens == 42
    assert match(changed, "gpt-5.5").model.tokenizer == "o200k"
    assert match(changed, "my-model-2").model.name == "mine"
    price = match(changed, "claude-opus-5.5").price
    assert price is not None
    assert (price.input_usd_per_mtok.low, price.input_usd_per_mtok.high) == (1, 2)


def test_no_file_of_the_user_is_no_change(tmp_path: Path) -> None:
    assert load_catalog(tmp_path / "none.toml") == catalog()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[model]]\nname = 'gpt-5'\nwidnow_tokens = 3", "unknown key widnow_tokens"),
        ("[[model]]\nname = 'new'", "missing key"),
        ("[[model]]\nname = 'gpt-5'\nwindow_tokens = 'many'", "whole number"),
        ("[[model]]\nname = 'gpt-5'\nwindow_tokens = true", "whole number"),
        ("[[model]]\nname = 'gpt-5'\nimage = { rule = 'magic' }", "image.rule"),
        ("[[model]]\nname = 'gpt-5'\nimage = { rule = 'fixed', tokens = [3, 1] }", "low, high"),
        ("[[model]]\nname = 'gpt-5'\ncaps = { images = -1 }", "caps"),
        ("[[model]]\nname = 'gpt-5'\napi = 'smtp'", "smtp"),
        ("[[model]]\nname = 'gpt-5'\nshapes = []", "at least one shape"),
        ("[[model]]\nname = 'gpt-5'\ndate = 2026-01-01T10:00:00", "a date such as"),
        ("[[tool]]\nname = 'x'", "unknown table 'tool'"),
        ("model = 3", "list of tables"),
        ("[[model]", "not TOML"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, text: str, says: str) -> None:
    own = tmp_path / "models.toml"
    own.write_text(text)
    with pytest.raises(InputError, match=says.replace("[", r"\[")) as raised:
        load_catalog(own)
    assert str(raised.value).startswith(str(own))
