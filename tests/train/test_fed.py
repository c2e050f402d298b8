"""What an attempt fed is named when it is forgotten or tainted."""

import pytest

from reasoningbank_langgraph import Verdict
from reasoningbank_langgraph.errors import HarvestError
from reasoningbank_langgraph.testing import ScriptedChatModel
from reasoningbank_langgraph.train.harvest import tainted_rows
from tests.loop_fakes import indexed_memory, lessons
from tests.small_bank import lesson
from tests.train.attempts import TASKS, attempt, bank_of, learned, rows_in, run_of

ATTEMPTS = [
    attempt("right", text="48 + 24 = 72, so \\boxed{72}.", experience="group"),
    attempt("wrong", text="48 + 48 = 96, so \\boxed{96}.", right=False, experience="group"),
    attempt("other", TASKS[1], "63 / 9 = 7, so \\boxed{7}."),
    attempt("aided", TASKS[2], "500 - 100 = 400, so \\boxed{400}.", shown=("lesson-1",)),
]
LESSONS = [lesson(1, experience_id="other"), lesson(2, experience_id="group")]


@pytest.fixture
def bank():
    attempts = {one.experience_id: one.provenance for one in ATTEMPTS}
    items = [item.model_copy(update={"provenance": attempts[item.experience_id]}) for item in LESSONS]
    return bank_of(*ATTEMPTS, items=items)


@pytest.fixture
def out(bank, tmp_path):
    bank.harvest(tmp_path / "out", validation=0)
    return tmp_path / "out"


def told(out, bank):
    return sorted((one.row.file, one.source.id, one.reason) for one in tainted_rows(out, bank))


def test_a_harvest_that_was_just_made_has_no_tainted_row(out, bank):
    assert told(out, bank) == []


def test_a_forgotten_attempt_is_named_in_every_file_that_it_fed(out, bank):
    bank.forget("right", cascade=False)
    assert told(out, bank) == [("preferences.jsonl", "right", "forgotten"), ("train.jsonl", "right", "forgotten")]
    (row,) = [one.row for one in tainted_rows(out, bank) if one.row.file == "train.jsonl"]
    assert rows_in(out)[row.line - 1]["completion"][0]["content"] == ATTEMPTS[0].solution


def test_a_lesson_that_is_quarantined_taints_its_own_attempt_and_those_that_were_shown_it(out, bank):
    bank.set_status(["lesson-1"], "quarantined")
    assert told(out, bank) == [
        ("train.jsonl", "aided", "it was shown lesson-1, which is quarantined"),
        ("train.jsonl", "other", "a lesson learned from it is quarantined"),
    ]
    for status in ("superseded", "active"):
        bank.set_status(["lesson-1"], status)
        assert told(out, bank) == []


def test_a_forgotten_lesson_taints_what_was_shown_it(out, bank):
    bank.forget("lesson-1", cascade=False)
    assert ("train.jsonl", "aided", "it was shown lesson-1, which is forgotten") in told(out, bank)


def test_a_verdict_that_is_overturned_is_named(out, bank):
    model = ScriptedChatModel(lambda _: lessons("look again"))
    bank.resolve("other", Verdict(status="failure", judge="reference"), model=model)
    assert told(out, bank) == [("train.jsonl", "other", "judged a failure since")]


def test_what_is_tainted_is_left_out_of_the_next_harvest(out, bank, tmp_path):
    bank.set_status(["lesson-1"], "quarantined")
    made = bank.harvest(tmp_path / "next", validation=0)
    assert dict(made.left_out) == {"tainted": 2}
    assert [row.sources[0].id for row in made.rows if row.file == "train.jsonl"] == ["right"]
    assert told(tmp_path / "next", bank) == []


def test_rows_of_experiments_come_from_no_bank(bank, tmp_path):
    run = run_of(tmp_path / "run", learned(text="It is 24 more than 48, so \\boxed{72}."))
    made = bank.harvest(tmp_path / "both", runs=[run], validation=0)
    assert "row" in {source.kind for row in made.rows for source in row.sources}
    assert told(tmp_path / "both", bank) == []


def test_a_bank_of_another_namespace_says_nothing_of_it(out):
    with pytest.raises(HarvestError, match="was made from math/ann, and this bank is math/bob"):
        tainted_rows(out, bank_of(store=indexed_memory(), namespace=("math", "bob")))


@pytest.mark.parametrize("content", [None, "", "{}", "[1]"])
def test_a_folder_without_a_card_holds_no_harvest(content, bank, tmp_path):
    if content is not None:
        (tmp_path / "card.json").write_text(content)
    with pytest.raises(HarvestError, match="holds no harvest"):
        tainted_rows(tmp_path, bank)
