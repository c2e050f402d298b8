"""Lessons of other memories: read as their files are, each once, and what is left out is named."""

import json

import pytest
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.errors import ImportFileError, PastBankError
from reasoningbank_langgraph.records import utc_now
from tests.loop_fakes import indexed_memory

MARKDOWN = """\
The trajectory failed because the filter was never opened.

# Memory Item 1

## Title Open the filter first

## Description When a list is long.

## Content Open the filter before paging.

# Memory Item 2
## Title Read the total
## Description When counts are asked for.
## Content Read the total beside the list."""
TASK = {"task_id": "47", "query": "How many orders are open?", "think_list": ["hm"], "action_list": ["click('3')"]}
TASK |= {"status": "fail", "memory_items": MARKDOWN.split("\n\n"), "template_id": 9}
PLAIN = {"title": "Check units", "description": "When lengths are added.", "content": "Write the unit beside it."}


def bank():
    return MemoryBank(indexed_memory(), "m")


def file_of(tmp_path, *lines):
    path = tmp_path / "memory.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def shown(items):
    return [(item.title, item.description, item.content, item.outcome, item.task) for item in items]


def test_the_memory_of_the_reference_code_is_read_whatever_pieces_its_markdown_is_in(tmp_path):
    memory = bank()
    done = memory.import_from(
        "reasoning-bank", file_of(tmp_path, TASK, TASK | {"query": "b", "memory_items": MARKDOWN})
    )
    assert shown(memory.items())[:2] == [
        ("Open the filter first", "When a list is long.", "Open the filter before paging.", "failure", TASK["query"]),
        ("Read the total", "When counts are asked for.", "Read the total beside the list.", "failure", TASK["query"]),
    ]
    assert (len(done.added), done.known, done.skipped) == (4, 0, [])
    assert len({item.experience_id for item in memory.items()}) == 2
    assert [found.item.title for found in memory.search("How many orders are closed?", k=1)]


def test_items_that_langmem_wrote_become_lessons_under_the_outcome_that_is_named(tmp_path):
    store = InMemoryStore()
    episode = {"observation": "The user was angry.", "action": "I said sorry.", "result": "The user calmed down."}
    store.put(("memories", "ann"), "1", {"kind": "Memory", "content": {"content": "Ask for the order. Then look."}})
    store.put(("memories", "ann"), "2", {"kind": "Episode", "content": episode})
    store.put(("memories", "ann"), "3", {"content": "Reply in short sentences"})
    items = sorted(store.search(("memories",)), key=lambda item: item.key)
    path = file_of(tmp_path, *(item.dict() for item in items))
    assert [why for _, why in bank().import_from("langmem", path).skipped] == [
        "does not say what it was learned from: name an outcome for such lines"
    ] * 3
    memory = bank()
    memory.import_from("langmem", path, outcome="success")
    found = {item.title: item for item in memory.items()}
    assert found["Ask for the order."].content == "Ask for the order. Then look."
    assert found["The user was angry."].task == "The user was angry."
    assert "action: I said sorry." in found["The user was angry."].content
    assert found["Reply in short sentences"].description == "Reply in short sentences"
    assert {item.created_at for item in found.values()} == {item.created_at for item in items}


def test_a_second_import_adds_nothing_and_a_longer_file_only_what_is_new(tmp_path):
    memory, path = bank(), file_of(tmp_path, PLAIN | {"outcome": "success", "task": "add 2 m and 3 cm"})
    assert len(memory.import_from("jsonl", path).added) == 1
    changes = memory.log()
    again = memory.import_from("jsonl", path)
    assert (again.added, again.known) == ([], 1)
    assert memory.log() == changes
    longer = file_of(tmp_path, TASK | {"status": "success"}, *[TASK] * 2)
    assert len(memory.import_from("reasoning-bank", longer).added) == 4
    assert [why for _, why in memory.import_from("reasoning-bank", longer).skipped] == ["line 2 says the same"] * 2
    assert len(memory.items()) == 5
    lost = memory.forget(memory.items()[1].id)  # as after a process that was killed on the way
    assert [item.id for item in memory.import_from("reasoning-bank", longer).added] == lost


def test_a_dry_run_says_what_an_import_does_and_writes_nothing(tmp_path):
    memory, path = bank(), file_of(tmp_path, TASK, PLAIN)
    planned = memory.import_from("reasoning-bank", path, dry_run=True)
    assert (memory.items(), memory.log()) == ([], [])
    done = memory.import_from("reasoning-bank", path)
    assert [item.id for item in planned.added] == [item.id for item in done.added] == [one.id for one in memory.items()]
    assert planned.skipped == done.skipped
    assert memory.import_from("reasoning-bank", path, dry_run=True).known == 2


def test_what_is_no_lesson_is_left_out_by_its_line_and_the_rest_is_taken(tmp_path):
    good = PLAIN | {"outcome": "failure"}
    lines = [good, "{", "[]", PLAIN, good | {"title": ""}, good | {"content": 3}, good | {"content": "x" * 5000}]
    done = bank().import_from("jsonl", file_of(tmp_path, *lines, "", good | {"created_at": "yesterday"}))
    assert len(done.added) == 1
    assert [line for line, _ in done.skipped] == [2, 3, 4, 5, 6, 7, 9]
    for (_, why), said in zip(
        done.skipped, ("not JSON", "not an object", "outcome", "blank", "'content'", "4000", "created_at"), strict=True
    ):
        assert said in why
    item = "# Memory Item {0}\n## Title Step {0}\n## Description When {0}.\n## Content Do {0}.\n\n"
    many = "".join(item.format(number) for number in range(1, 9))
    done = bank().import_from("reasoning-bank", file_of(tmp_path, TASK | {"memory_items": many}))
    assert (len(done.added), len(done.skipped)) == (5, 3)
    assert "more than 5" in done.skipped[0].why
    (skipped,) = bank().import_from("reasoning-bank", file_of(tmp_path, TASK | {"memory_items": ["no item"]})).skipped
    assert "no lesson" in skipped.why


def test_secrets_stay_out_and_one_command_takes_an_import_out_again(tmp_path):
    memory = bank()
    secret = PLAIN | {"outcome": "success", "content": "Log in with password=hunter2hunter2 first."}
    memory.import_from("jsonl", file_of(tmp_path, secret, TASK))
    (item,) = memory.items()
    assert "hunter2" not in item.content
    assert memory.forget(run_id="import:jsonl:memory.jsonl") == [item.id]
    assert memory.items() == []


def test_a_mistake_of_the_caller_is_named(tmp_path):
    memory = bank()
    with pytest.raises(ImportFileError, match="cannot be read"):
        memory.import_from("jsonl", tmp_path / "nothing.jsonl")
    with pytest.raises(ValueError, match="langmem, reasoning-bank, jsonl"):
        memory.import_from("mem0", file_of(tmp_path, PLAIN))
    with pytest.raises(PastBankError):
        memory.as_of(utc_now()).import_from("jsonl", file_of(tmp_path, PLAIN | {"outcome": "success"}))
