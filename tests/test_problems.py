"""Problem files are read in the formats people have."""

import json

import pytest

from reasoningbank_langgraph.problems import Problem, read_problems

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
    assert read_problems(path) == [Problem("line-1", TEXT, answer, attempt)]
