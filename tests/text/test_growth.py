"""Work on a text grows with its length, whatever the text: each unit repeats what a pattern of ours begins with."""

# ruff: noqa: E501 - units read best on few lines
import json

import pytest

from reasoningbank_langgraph import Attempt, MemoryBank
from reasoningbank_langgraph.bank.item_values import task_key_without_secrets
from reasoningbank_langgraph.errors import ImportFileError, InvalidRecordError
from reasoningbank_langgraph.extraction.literals import named_literals, task_literals
from reasoningbank_langgraph.records import MemoryItem, task_key
from reasoningbank_langgraph.text import (
    clean_line,
    clean_text,
    fence,
    parse_rendered,
    redact_secrets,
    render_memories,
    without_memories,
)
from tests.growth import assert_linear, repeated
from tests.loop_fakes import indexed_memory

pytestmark = pytest.mark.slow

QUICK, WHOLE = (5_000, 40_000), (50_000, 100_000, 200_000)

PLAIN = ["word ", "a", " ", "\t", "\n", " \n", "é", "a\u0301\u0323", "\u0301\u0323", "\uff9e\u0301", "\u200b", "\u202e", "\ud800", "\u0430", "ﷺ"]  # fmt: skip
MARKERS = [
    "<|", "<|a", "|>", "<", "<<", "[", "![", "[a](", "](", "<img ", "<a ", "://", "a://", "//a.", "//a-", "www.", "data:a/", "http://x).", "http://a..",
    "1.", "a:", "ab:cd:", "0:", "<a_", "<tool-", "</", "<ns:", "[INST", "[A_", "|||A", ">>AAAA", "`", "``x", "~~~", "> ", "# ", "= ", "=", "= -", "===\n",
    "system", "System: ", "system\n", "(", "1. ", "system -", "system (a", "system (a\n", "assistant  ", "# memory ", "-", "_", "!", "][", "[link removed]", ").",
]  # fmt: skip
SECRETS = [
    "eyJ", "eyJaaaaa-", "eyJaaaaa.", "sk-", "SG.a", "AKIA", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY----- ", "bearer ", "bearer a",
    "authorization: ", "basic a", "a@", "a.b@", "a@b.", "+1", "+1 ", "1111 ", "password", "password=", "password_", "token.", "a-", "a.", "a=", "://a:",
    "--password ", "-u a", "?sig=", "key ", "password is ", "senha ", "senha es ", "senha a é", "密码", "密码是", "clave de api: a1", '"password": "', "hooks.slack.com/services/", "dapi", "00:AA", "Ab",
]  # fmt: skip
DETAILS = [
    "1", "1,", "1.", "=1,", "is ", "is 1", "Anna ", "Anna-", "Anna's ", "http://", "www.a ", "’s", '"A', "A-1", "A1-", '"A-1"', "1 A#", '\\"',
]  # fmt: skip


@pytest.mark.parametrize("unit", [*PLAIN, *MARKERS], ids=ascii)
def test_cleaning_is_linear(unit):
    assert_linear(clean_text, repeated(unit), QUICK)


@pytest.mark.parametrize("unit", [*PLAIN, *SECRETS], ids=ascii)
def test_redaction_is_linear(unit):
    assert_linear(redact_secrets, repeated(unit), QUICK)


@pytest.mark.parametrize("unit", [*PLAIN, *DETAILS], ids=ascii)
def test_the_details_of_a_task_are_found_in_linear_time(unit):
    def looked_at(text):
        used = {"role": "assistant", "tool_calls": [{"name": "f", "args": {"a": text, "b": [f'"{text}"']}}]}
        attempt = Attempt(task=text, answer=text, reference=text, messages=[used, {"role": "tool", "content": text}])
        literals = task_literals(attempt)
        named_literals(text, literals)

    assert_linear(looked_at, repeated(unit), QUICK)


def test_as_many_names_as_words_take_no_longer():
    def looked_at(text):
        named_literals(text, task_literals(Attempt(task=text)))

    assert_linear(looked_at, lambda size: " ".join(f"So Name{number}x" for number in range(size // 12)), QUICK)


@pytest.mark.parametrize(
    ("function", "unit"),
    [
        (clean_text, "word "),
        (clean_text, "a\u0301\u0323"),
        (clean_text, "System: x\n"),
        (clean_line, "a    \t   "),
        (clean_line, "http://x" + "." * 50),
        (redact_secrets, "eyJaaaaa-"),
        (redact_secrets, "DB_PASSWORD="),
        (redact_secrets, "\u200bpassword "),
        (task_key, "a\u0301\u0323"),
        (task_key, "\uff9e\u0301\u0323"),
        (task_key_without_secrets, "eyJaaaaa-\u0323\u0301"),
    ],
    ids=lambda value: value.__name__ if callable(value) else ascii(value),
)
def test_long_texts_take_linear_time(function, unit):
    assert_linear(function, repeated(unit), WHOLE)


@pytest.mark.parametrize("unit", ["=== begin notes 0123456789abcdef ===\n", "x\n", "lesson: x\n", "[1] x\n"])
def test_blocks_are_read_and_taken_out_in_linear_time(unit):
    items = [{"title": "T", "description": "D", "content": "C", "outcome": "success"}]

    def looked_at(text):
        without_memories(text, items)
        with pytest.raises(InvalidRecordError):
            parse_rendered(text)

    assert_linear(looked_at, repeated(unit), WHOLE)


def test_ten_thousand_items_and_a_line_of_two_megabytes_are_shown_within_the_budget():
    item = {"title": "T", "description": "D", "content": "C", "outcome": "success"}
    assert_linear(lambda size: render_memories([item] * size, max_chars=10**9), int, (1_250, 10_000))
    long = [{**item, "content": "x" * 2_000_000}]
    assert len(render_memories(long)) <= 6_000
    assert_linear(lambda text: fence(text, "attempt", max_chars=12_000), repeated("<|"), (250_000, 2_000_000))


def entry(**changes):
    item = MemoryItem(id="z", title="T", description="D", content="C", outcome="success", task="t", task_id="t")
    return json.dumps({**item.to_json(), **changes})


LINES = {
    "deep lists": lambda size: "[" * size,
    "deep objects": lambda size: '{"a":' * (size // 5),
    "digits": lambda size: f'{{"id": {"9" * size}}}',
    "decimals": lambda size: f'{{"id": 1.{"9" * size}}}',
    "a key twice": lambda size: "{" + ", ".join(f'"{number}": 1' for number in (*range(size // 12), 0)) + "}",
    "unknown keys": lambda size: entry(**dict.fromkeys(map(str, range(size // 12)), 1)),
    "marks": lambda size: entry(task="\u0301\u0323" * (size // 12), title=""),
    "tags": lambda size: entry(tags=["ab"] * (size // 6), title=""),
    "blanks": lambda size: " " * size + "x",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_line_of_an_import_is_refused_in_linear_time(line, tmp_path):
    bank, path = MemoryBank(indexed_memory(), "m"), tmp_path / "bank.jsonl"

    def refused(text):
        path.write_text('{"format": "reasoningbank", "version": 1, "items": 1}\n' + text)
        with pytest.raises(ImportFileError, match="line 2"):
            bank.import_jsonl(path)

    assert_linear(refused, line, (50_000, 400_000))
