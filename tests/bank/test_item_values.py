"""How a lesson lies in a store: its record, and beside it what is searched, filtered and embedded."""

from datetime import UTC, datetime, timedelta

import pytest
from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.bank.item_values import (
    NEVER,
    content_key,
    delete,
    distinct,
    find,
    matched_text,
    micros,
    put,
    rewrite,
    task_key_without_secrets,
)
from reasoningbank_langgraph.records import task_key
from tests.bank.test_forgetting import lesson
from tests.loop_fakes import indexed_memory

HERE = ("m", "math")
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
MICROS = 1_767_225_600_000_000


def test_a_row_holds_the_record_and_what_stores_search_and_filter_by():
    times = {"retired_at": NEW_YEAR, "valid_until": NEW_YEAR + timedelta(microseconds=7)}
    item = lesson("a", task="add  two\napples", thread="t1", run="r1", status="quarantined", **times)
    item = item.model_copy(update={"provenance": item.provenance.model_copy(update={"attempt_digest": "d"})})
    before = micros(datetime.now(UTC))
    op = put(item, HERE, "both", carries_task_vector=True)
    since, key = op.value.pop("since"), op.value.pop("content_key")
    assert key == content_key(item.model_copy(update={"title": "Title  A", "task": "another"}))
    assert before <= since <= micros(datetime.now(UTC))
    assert (op.namespace, op.key) == (HERE, "a")
    assert op.value == {
        **item.to_json(),
        "bank": "m/math",
        "query": "add two apples",
        "lesson": "title a. when a",
        "task_key": task_key("add two apples"),
        "retired": MICROS,
        "expires": MICROS + 7,
        "thread_id": "t1",
        "run_id": "r1",
        "attempt_digest": "d",
        "index": ["query", "lesson"],
    }


def test_a_row_of_an_active_lesson_without_a_thread_and_an_end_says_so():
    row = put(lesson("a", thread=None, run=None), HERE, "both", carries_task_vector=True).value
    assert [row[name] for name in ("thread_id", "run_id", "retired", "expires")] == ["", "", NEVER, NEVER]


def test_what_is_out_of_sight_without_a_time_is_so_from_now_on():
    before = micros(datetime.now(UTC))
    row = put(lesson("a", status="superseded"), HERE, "both", carries_task_vector=True).value
    assert before <= row["retired"] <= micros(datetime.now(UTC))


@pytest.mark.parametrize(
    ("match", "carries_task_vector", "fields"),
    [
        ("both", True, ["query", "lesson"]),
        ("both", False, ["lesson"]),
        ("task", True, ["query"]),
        ("task", False, []),
        ("lesson", True, ["lesson"]),
        ("lesson", False, ["lesson"]),
    ],
)
def test_what_is_embedded_is_what_a_bank_matches_and_stays_so_when_the_row_is_written_again(
    match, carries_task_vector, fields
):
    op = put(lesson("a"), HERE, match, carries_task_vector=carries_task_vector)
    assert (op.value["index"], op.index) == (fields, fields or False)
    assert rewrite(HERE, "a", op.value) == op


def test_times_have_sixteen_digits_and_none_is_as_late_as_never():
    assert micros(NEW_YEAR) == MICROS
    assert micros(NEW_YEAR + timedelta(microseconds=1)) == MICROS + 1
    assert micros(datetime(1, 1, 1, tzinfo=UTC)) == 10**15
    assert micros(datetime.max.replace(tzinfo=UTC)) == NEVER - 1
    assert len(str(NEVER)) == len(str(MICROS)) == len(str(10**15)) == 16


def test_the_start_of_a_task_is_embedded_without_regard_to_its_spacing():
    assert matched_text(" add\n two\t apples ") == "add two apples"
    assert matched_text("ab " * 1000) == ("ab " * 1000)[:2000]


def test_the_same_text_twice_in_a_batch_differs_in_blanks_at_its_end_alone():
    texts = [" sum of X", " sum of X ", " sum of X\n", " sum of X", "X"]
    ops = [PutOp(HERE, str(place), {"lesson": text, "query": "sum"}, ["lesson"]) for place, text in enumerate(texts)]
    told = distinct(ops)
    assert [op.value["lesson"] for op in told] == [" sum of X", " sum of X ", " sum of X\n", " sum of X  ", "X"]
    assert {op.value["query"] for op in told} == {"sum"}
    assert [op.value["lesson"] for op in ops] == texts


def test_what_embeds_nothing_goes_through_a_batch_as_it_is():
    ops = [
        GetOp(HERE, "a"),
        find(HERE, {"x": 1}, "add", 3),
        delete("a", HERE),
        PutOp(HERE, "b", None, ["lesson"]),
        PutOp(HERE, "c", {"lesson": "x "}, False),
        PutOp(HERE, "d", {"lesson": "x "}, None),
    ]
    assert distinct(ops) == ops
    assert (ops[1].filter, ops[1].limit, ops[1].offset, ops[1].query) == ({"x": 1, "bank": "m/math"}, 3, 0, "add")


def test_an_import_embeds_the_task_of_an_experience_once_for_all_its_lessons(tmp_path):
    source, target = (MemoryBank(indexed_memory(), HERE) for _ in range(2))
    lessons = {name: [lesson(f"{name}{place}", task=name, experience=name) for place in range(3)] for name in "ab"}
    for some in lessons.values():
        source.add(some)
    target.add(lessons["a"][1])
    source.export_jsonl(tmp_path / "bank.jsonl")
    assert target.import_jsonl(tmp_path / "bank.jsonl") == (5, 1)
    rows = {row.key: row.value["index"] for row in target.store.search(HERE, limit=99)}
    assert sorted(name for name, index in rows.items() if "query" in index) == ["a1", "b0"]
    assert all("lesson" in index for index in rows.values())


@pytest.mark.parametrize(
    ("match", "fields"), [("task", ["query"]), ("lesson", ["lesson"]), ("both", ["query", "lesson"])]
)
def test_an_import_is_matched_as_the_bank_that_takes_it_over_does(match, fields, tmp_path):
    source, target = MemoryBank(indexed_memory(), HERE), MemoryBank(indexed_memory(), HERE, match=match)
    source.add([lesson("a", task="add two apples")])
    source.export_jsonl(tmp_path / "bank.jsonl")
    target.import_jsonl(tmp_path / "bank.jsonl")
    assert target.store.get(HERE, "a").value["index"] == fields


@pytest.mark.parametrize("char", "\u200b\u00ad\ufeff\u2060\u200d\ufe0f\u3164\u202e\x07\U000e0041")
def test_what_a_reader_cannot_see_makes_no_other_task(char):
    plain, marked = "add two apples", f"{char}add t{char}wo apples{char}"
    assert task_key_without_secrets(marked) == task_key_without_secrets(plain) == task_key(plain)
    for learned, asked in ((plain, marked), (marked, plain), (marked, marked)):
        bank = MemoryBank(indexed_memory(), HERE)
        bank.add([lesson("same", task=learned), lesson("other", task="add two pears", experience="same")])
        assert [memory.item.id for memory in bank.search(asked)] == ["other"]


@pytest.mark.parametrize("text", ["a\rb", "a\x85b", "a\u2028b", "a\x1cb", "a\u3000b"])
def test_every_kind_of_white_space_parts_words_in_a_task(text):
    assert task_key_without_secrets(text) == task_key_without_secrets("a b") == task_key("a b")


def test_joiners_that_spelling_needs_tell_tasks_apart():
    assert task_key_without_secrets("\u0645\u06cc\u200c\u062e\u0648") != task_key_without_secrets(
        "\u0645\u06cc\u062e\u0648"
    )


def test_a_row_of_an_older_version_with_an_invisible_character_is_still_of_its_task():
    bank, task = MemoryBank(indexed_memory(), HERE), "add two\u200b apples"
    bank.add([lesson("same", task=task)])
    row = bank.store.get(HERE, "same").value
    bank.store.put(HERE, "same", {**row, "task_key": task_key(task)}, index=row["index"])
    assert bank.search(task) == []
    assert [memory.item.id for memory in bank.search("add two pears")] == ["same"]
