"""Problem files are read in the formats people have."""

import json

import pytest

from reasoningbank_langgraph.errors import ProblemFileError
from reasoningbank_langgraph.math_solver.problems import Problem, read_problems

TEXT = "Anna has 16 eggs and sells 9. How many are left?"


@pytest.mark.parametrize(
    ("row", "answer", "attempt"),
    [
        ({"problem": TEXT, "answer": "7"}, "7", None),
        ({"problem": TEXT, "answer": 7}, "7", None),
        ({"problem": TEXT, "answer": "7", "attempt": "it is 8"}, "7", "it is 8"),
        ({"problem": TEXT}, None, None),
        ({"question": TEXT, "answer": "16 - 9 = <<16-9=7>>7 eggs\n#### 7"}, "7", None),
        ({"question": TEXT, "answer": "#### 1,234"}, "1,234", None),
        (
            {"problem": TEXT, "solution": "so \\boxed{\\frac{7}{1}}", "level": "Level 1", "type": "x"},
            "\\frac{7}{1}",
            None,
        ),
        ({"problem": TEXT, "solution": "so \\boxed{8}", "answer": "7"}, "7", None),
    ],
)
def test_each_format_brings_text_and_answer(row, answer, attempt, tmp_path):
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps(row))
    assert read_problems(path) == [Problem("line-1-b41899c4", TEXT, answer, attempt)]


def test_problems_without_ids_in_two_files_do_not_share_any(tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_text(json.dumps({"problem": "What is 1 + 1?"}))
    two.write_text(json.dumps({"problem": "What is 2 + 2?"}))
    assert read_problems(one)[0].id != read_problems(two)[0].id


@pytest.mark.parametrize("answer", [False, {"a": 1}, ["84"]])
def test_an_answer_that_is_neither_text_nor_number_names_its_line(answer, tmp_path):
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps({"problem": TEXT, "answer": answer}))
    with pytest.raises(ProblemFileError, match="'answer'"):
        read_problems(path)


def test_a_blank_answer_is_none_an_id_may_be_0_and_has_no_lone_surrogates(tmp_path):
    path = tmp_path / "problems.jsonl"
    path.write_text(
        json.dumps({"problem": TEXT, "answer": "", "id": 0}) + "\n" + json.dumps({"problem": "x", "id": "\ud800"})
    )
    first, second = read_problems(path)
    assert (first.id, first.answer, second.id) == ("0", None, "\ufffd")
