"""What an adapter knows from its data is not asked of it, and what could not be looked for is said."""

import json
import re

import pytest

from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.train import Card
from reasoningbank_langgraph.train.adapters.validation import clear_problems
from reasoningbank_langgraph.train.rows import read_rows
from tests.train.adapted import adapter_in
from tests.train.attempts import TASKS

OTHER = "How high is the tower of the town hall?"


def row(task, solution):
    system = {"role": "system", "content": "Think step by step."}
    told = [system, {"role": "user", "content": task}, {"role": "assistant", "content": solution}]
    return {"messages": told}


@pytest.fixture
def data(tmp_path):
    """Training data on two tasks."""
    (folder := tmp_path / "data").mkdir()
    rows = {
        "train": row(TASKS[0], "48 + 24 = 72, so \\boxed{72}."),
        "validation": row("Lea has 24 plums and picks 47 more.", "That makes \\boxed{71}."),
    }
    for name, content in rows.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(content))
    return folder


def card_of(tmp_path, data):
    rows = read_rows(data)
    tasks = [task_key(task) for task, _ in rows.told]
    return Card.read(adapter_in(tmp_path / "adapters", "sums", data=data, data_sha256=rows.sha256, tasks=tasks))


def found(tmp_path, card, *problems):
    """The texts that are asked, and what is not, of these and one more problem."""
    lines = [json.dumps({"problem": text, "answer": answer}) for text, answer in (*problems, (OTHER, "88"))]
    (path := tmp_path / "validation.jsonl").write_text("\n".join(lines))
    validation = clear_problems(path, card)
    return [problem.text for problem in validation.problems.values()], validation.left_out, validation.unchecked


@pytest.mark.parametrize(
    ("problem", "answer", "reason"),
    [
        (TASKS[0], "72", "same task"),
        (TASKS[0].upper(), "72", "same task"),
        (TASKS[0].replace("48", "36").replace("rolls", "loaf"), "54", "near copy"),
        ("Add 47 to 24.", "71", "answer"),
        (OTHER.lower(), "88", None),
        ("Add 48 to 24.", "72", None),
    ],
)
def test_what_is_in_the_data_or_nearly_so_is_left_out_and_counted(tmp_path, data, problem, answer, reason):
    asked, left_out, unchecked = found(tmp_path, card_of(tmp_path, data), (problem, answer))
    assert unchecked == ""
    assert asked == ([OTHER] if reason else [problem] if problem == OTHER.lower() else [problem, OTHER])
    assert left_out == ({reason: 1} if reason else {"twice": 1} if problem == OTHER.lower() else {})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data.rename(data.with_name("moved")), r"its data .*data cannot be read \(.*No such file"),
        (lambda data: (data / "train.jsonl").write_text("{}"), r"cannot be read \(.*line 1 is no conversation"),
        (lambda data: (data / "train.jsonl").write_text(json.dumps(row("1 + 1", "2"))), "has changed since"),
    ],
)
def test_without_the_data_equal_texts_alone_are_found_and_that_is_said(tmp_path, data, change, reason):
    card = card_of(tmp_path, data)
    change(data)
    near = TASKS[0].replace("48", "36")
    asked, left_out, unchecked = found(tmp_path, card, (TASKS[0], "72"), (near, "54"))
    assert (asked, left_out) == ([near, OTHER], {"same task": 1})
    assert re.search(reason, unchecked)


def test_a_card_that_does_not_name_its_data_says_so(tmp_path):
    card = Card.read(adapter_in(tmp_path / "adapters", "sums"))
    assert found(tmp_path, card) == ([OTHER], {}, "its card does not name its data")
