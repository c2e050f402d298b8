"""A bank that was exported and imported does what the first one does when a verdict or an undoing comes next."""

import pytest

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.bank.branches import Branch
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.bank.test_forgetting import NAMESPACE, lesson
from tests.bank.test_redistil import filled, newer
from tests.learn.test_deferred import RIGHT, WRONG, run
from tests.loop_fakes import indexed_memory, learner

TASK = "red green blue"


def twins(bank, tmp_path):
    """This bank and one that imports it."""
    other = MemoryBank(indexed_memory(), NAMESPACE)
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other.import_jsonl(tmp_path / "bank.jsonl")
    assert [item.to_json() for item in other.items()] == [item.to_json() for item in bank.items()]
    assert other.episodes() == bank.episodes()
    return bank, other


def in_use(bank):
    return sorted(item.title for item in bank.items() if item.status == "active")


def resolved(**options):
    """A bank with two lessons of an attempt that was judged a success, and the attempt's id."""
    store = indexed_memory()
    attempt, bank = run(store, TASK, **options)["pending"]["id"], MemoryBank(store, NAMESPACE)
    bank.resolve(attempt, RIGHT, model=learner(titles=("one", "uno")))
    return attempt, bank


@pytest.mark.parametrize("episodes", [True, False])
def test_a_third_verdict_brings_the_first_lessons_back_and_asks_nothing(episodes, tmp_path):
    attempt, bank = resolved(episodes=episodes)
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    for each in twins(bank, tmp_path):
        result = each.resolve(attempt, RIGHT, model=ScriptedChatModel([]))
        assert (result.added, in_use(each)) == (0, ["one", "uno"])
        found = each.search(f"{TASK} grey", k=9, max_items=9, min_score=0.6)
        assert sorted(memory.item.title for memory in found) == ["one", "uno"]


def test_the_branch_that_made_an_attempt_knows_the_lessons_of_its_later_verdict(tmp_path):
    attempt, bank = resolved()
    first = [item.id for item in bank.items()]
    (two,) = bank.resolve(attempt, WRONG, model=learner(titles=("two",))).ids
    for each in twins(bank, tmp_path):
        row = each.store.get(NAMESPACE, two)
        assert not Branch("t", frozenset(first)).unknown_rows([row])
        assert Branch("t", frozenset({"other"})).unknown_rows([row])


def test_a_fourth_verdict_brings_the_lessons_of_the_second_back(tmp_path):
    attempt, bank = resolved()
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    bank.resolve(attempt, RIGHT, model=ScriptedChatModel([]))
    for each in twins(bank, tmp_path):
        each.resolve(attempt, WRONG, model=ScriptedChatModel([]))
        assert in_use(each) == ["two"]


def test_the_last_pruning_is_undone_and_not_the_one_before(tmp_path):
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    for number in range(4):
        bank.add([lesson(f"{number}", verifier_score=number / 4)])
    bank.prune(min_value=0.1, dry_run=False)
    bank.prune(min_value=0.3, dry_run=False)
    for each in twins(bank, tmp_path):
        assert each.undo_prune() == ["1"]
        assert each.undo_prune() == ["0"]


def test_a_lesson_that_was_pruned_before_its_verdict_was_overturned_comes_back_with_it_alone(tmp_path):
    attempt, bank = resolved()
    bank.prune(capacity=1, dry_run=False)
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    for each in twins(bank, tmp_path):
        assert (each.undo_prune(), in_use(each)) == ([], ["two"])
        each.resolve(attempt, RIGHT, model=ScriptedChatModel([]))
        assert (len(each.undo_prune()), in_use(each)) == (1, ["one", "uno"])


def test_a_merged_lesson_is_not_undone_while_its_verdict_is_overturned(tmp_path):
    attempt, bank = resolved()
    merged = bank.merge([item.id for item in bank.items()], title="merged").id
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    for each in twins(bank, tmp_path):
        assert (each.undo_merge(merged), in_use(each)) == ([], ["two"])
        each.resolve(attempt, RIGHT, model=ScriptedChatModel([]))
        assert in_use(each) == ["merged"]
        assert (len(each.undo_merge(merged)), in_use(each)) == (2, ["one", "uno"])


def test_what_was_released_stays_in_use_under_a_verdict_that_agrees_and_not_under_another(tmp_path):
    attempt, bank = resolved()
    (two,) = bank.resolve(attempt, WRONG, model=learner(titles=("two",))).ids
    old = [item.id for item in bank.items() if item.id != two]
    for each in twins(bank, tmp_path):
        assert each.set_status(old[:1], "active") == old[:1]
        each.resolve(attempt, RIGHT, model=ScriptedChatModel([]))
        assert in_use(each) == ["one", "uno"]
        each.resolve(attempt, WRONG, model=ScriptedChatModel([]))
        assert in_use(each) == ["two"]


def test_no_lesson_is_made_anew_of_an_attempt_of_which_one_was_forgotten(tmp_path):
    bank = filled(indexed_memory())
    bank.forget("a0")
    for each in twins(bank, tmp_path):
        assert each.redistil(newer("one")).reasons == {"out_of_use": 1}


def test_a_lesson_that_was_merged_or_is_looked_at_as_it_was_says_nothing_of_how_others_went(tmp_path):
    attempt, bank = resolved()
    then = utc_now()
    bank.resolve(attempt, WRONG, model=learner(titles=("two", "three")))
    assert {item.overturned for item in bank.items()} == {"success", None}
    assert {item.overturned for item in bank.as_of(then).items()} == {None}
    merged = bank.merge([item.id for item in bank.items() if item.status == "active"])
    assert (merged.later_verdict, merged.pruned) == (None, 0)
