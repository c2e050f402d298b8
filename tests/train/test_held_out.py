"""What is evaluated on is not trained on: the same task, a near copy, a solution that states its answer."""

import json

import pytest

from reasoningbank_langgraph.errors import ProblemFileError
from reasoningbank_langgraph.testing import HashEmbeddings
from reasoningbank_langgraph.train.harvest import read_card
from tests.train.attempts import TASKS, attempt, bank_of, rows_in

MINE = attempt("mine", TASKS[1], "63 / 9 = 7, so each gets \\boxed{7}.")


def file_of(path, *problems):
    lines = [json.dumps({"problem": text, "answer": answer}) for text, answer in problems]
    path.write_text("\n".join(lines))
    return path


def left_out(tmp_path, problem, answer, task, text="48 + 24 = 72, so \\boxed{72}.", **options):
    test = file_of(tmp_path / "test.jsonl", (problem, answer), ("How high is the tower of the town hall?", "88"))
    bank = bank_of(MINE, attempt("a", task, text))
    made = bank.harvest(tmp_path / "out", not_in=[test], validation=0, **options)
    kept = {one["prompt"][-1]["content"] for one in rows_in(tmp_path / "out")}
    assert kept == {TASKS[1], *([] if made.left_out else [task])}
    return dict(made.left_out)


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (TASKS[0], "same task"),
        (TASKS[0].upper().replace(" ", "  "), "same task"),
        (f"An example first. {TASKS[0]} Now to you: what is 48 + 24?", "same task"),
        (TASKS[0].replace("48", "36").replace("rolls", "loaf"), "near copy"),
        ("What do 48 rolls and half of as many, which is 24, make?", None),
        (TASKS[2], None),
    ],
)
def test_a_task_of_an_evaluation_file_or_nearly_one_is_left_out(task, reason, tmp_path):
    assert left_out(tmp_path, TASKS[0], "999", task) == ({reason: 1} if reason else {})


@pytest.mark.parametrize(
    ("problem", "answer", "task", "is_left_out"),
    [
        ("Add 48 to 24.", "72", "Lea has 24 plums and picks 48 more. How many are that?", True),
        ("Add 48 to 24.", "72", "Lea has 24 plums and picks 47 more. How many are that?", False),
        ("Add 48 to 24.", "73", "Lea has 24 plums and picks 48 more. How many are that?", False),
        ("What is it?", "72", "Lea has 24 plums and picks 48 more. How many are that?", False),
        ("Add 48 to 24.", "72", "Lea has 24 plums, picks 48 more on each of 7 days, and eats 2. What is left?", False),
        ("Add 48, 24 and 7.", "72", "Lea has 24 plums, picks 48 on each of 7 days, and eats 2. What is left?", True),
    ],
)
def test_a_solution_that_states_the_answer_of_a_problem_with_the_same_numbers_is_left_out(
    problem, answer, task, is_left_out, tmp_path
):
    assert left_out(tmp_path, problem, answer, task) == ({"answer": 1} if is_left_out else {})


@pytest.mark.parametrize(
    ("answer", "text", "is_left_out"),
    [
        ("13,579", "He counts 13579 of them, 1 by 1: \\boxed{13579}", True),
        ("70000", "7 * 10000 = 70000, so \\boxed{70000}.", False),
        ("Copernicus", "In 1543 it was Copernicus, 1 man of Frombork: \\boxed{yes}", True),
        ("blue", "It is blue on 5 of 7 days: \\boxed{5}", False),
    ],
)
def test_a_telling_answer_gives_its_problem_away_by_itself(answer, text, is_left_out, tmp_path):
    found = left_out(tmp_path, "Something else altogether?", answer, TASKS[3], text)
    assert found == ({"answer": 1} if is_left_out else {})


def test_near_copies_are_told_by_meaning_too_where_an_embedder_is_given(tmp_path):
    """The embedder of the tests gives texts with the same words the same meaning."""
    mixed = " ".join(sorted(TASKS[0].split()))
    assert left_out(tmp_path, TASKS[0], "999", mixed, embeddings=HashEmbeddings()) == {"near copy": 1}


def test_a_short_problem_is_not_looked_for_inside_other_texts(tmp_path):
    assert left_out(tmp_path, "48 + 24?", "999", "What is 148 + 24? Or is it 48 + 24?") == {}


def test_pairs_are_held_to_the_same_rule(tmp_path):
    group = [
        attempt("right", text="48 + 24 = 72, so \\boxed{72}.", experience="g"),
        attempt("wrong", text="48 + 48 = 96, so \\boxed{96}.", right=False, experience="g"),
    ]
    test = file_of(tmp_path / "test.jsonl", (TASKS[0], "72"))
    made = bank_of(MINE, *group).harvest(tmp_path / "out", not_in=[test], validation=0)
    assert dict(made.left_out) == {"same task": 2}
    assert list(made.files) == ["train.jsonl"]


def test_the_card_names_each_evaluation_file_with_its_digest(tmp_path):
    first, second = file_of(tmp_path / "one.jsonl", ("a?", "1")), file_of(tmp_path / "two.jsonl", ("b?", "2"))
    bank_of(MINE).harvest(tmp_path / "out", not_in=[first, second])
    card = read_card(tmp_path / "out")
    assert [(file.name, file.problems) for file in card.not_in] == [("one.jsonl", 1), ("two.jsonl", 1)]
    page = (tmp_path / "out" / "card.md").read_text()
    assert all(file.sha256 in page for file in card.not_in)


def test_an_evaluation_file_that_cannot_be_read_stops_the_harvest(tmp_path):
    (tmp_path / "test.jsonl").write_text("no json")
    with pytest.raises(ProblemFileError, match="line 1"):
        bank_of(MINE).harvest(tmp_path / "out", not_in=[tmp_path / "test.jsonl"])
    assert not (tmp_path / "out").exists()
