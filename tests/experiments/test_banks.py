"""Banks that are frozen: named after what taught them, the same from the same lessons, refused where they are not."""

from contextlib import nullcontext

import pytest
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.errors import FrozenBankError
from reasoningbank_langgraph.experiments import banks
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.banks import (
    Taught,
    digest_of,
    frozen_bank,
    given_bank,
    require_learned,
    require_same_bank,
    tasks_of,
)
from reasoningbank_langgraph.records import Episode, MemoryItem

from .fake_rows import config, row

MEMORY = Arm("memory", "retrieved")


def lesson(name, outcome="success", **more):
    told = {"title": f"T {name}", "description": "d", "content": "c", "task": f"task {name}", "task_id": name}
    return MemoryItem(**{**told, "outcome": outcome, **more})


def attempt(name, outcome="success", **more):
    return Episode(id=f"{name} {outcome}", task=f"task {name}", task_id=name, solution="s", outcome=outcome, **more)


def taught(name, outcome="success"):
    return Taught([lesson(name, outcome), lesson(name, outcome)], [attempt(name, outcome)])


def lessons():
    """The same ones, made anew: with other ids and times."""
    return {"p1": taught("p1"), "p0": taught("p0", "failure")}


def fill(bank, *records):
    for record in records:
        lessons, attempts = ([record], []) if isinstance(record, MemoryItem) else ([], [record])
        bank.add(lessons, episodes=attempts, policy="append")
    return bank


def frozen(store=None, arm=MEMORY, given=None, **changes):
    return frozen_bank(store or InMemoryStore(), config(**changes), arm, given or lessons())


def test_equal_lessons_make_equal_banks_in_the_order_of_the_problems():
    one, other = frozen(), frozen()
    assert [item.task_id for item in one.items()] == ["p1", "p1", "p0", "p0"]
    for records in (MemoryBank.items, MemoryBank.episodes):
        names = [[(record.id, record.experience_id) for record in records(bank)] for bank in (one, other)]
        assert names[0] == names[1]
    assert len({record.id for record in (*one.items(), *one.episodes())}) == 4 + 2
    experiences = [record.experience_id for record in (*one.items(), *one.episodes())]
    assert [experiences.index(name) for name in experiences] == [0, 0, 2, 2, 0, 2]
    of_matts = frozen(arm=Arm("vote-3+matts", "retrieved", 3, matts=True))
    assert not {item.id for item in one.items()} & {item.id for item in of_matts.items()}


@pytest.mark.parametrize(
    ("arm", "name"),
    [
        (MEMORY, "learning-all"),
        (Arm("memory-2", "retrieved", bank=2), "learning-2"),
        (Arm("vote-3+matts", "retrieved", 3, matts=True), "learning-vote-3-all"),
    ],
)
def test_arms_of_one_teacher_share_a_bank_and_others_have_their_own(arm, name):
    assert frozen(arm=arm).namespace == ("experiment", name)


@pytest.mark.parametrize("outcome", ["success", "failure"])
def test_lessons_are_of_the_wanted_outcome_and_attempts_of_both(outcome):
    bank = frozen(outcome=outcome)
    assert {item.outcome for item in bank.items()} == {outcome}
    assert len(bank.items()) == len(bank.episodes()) == 2


def test_a_bank_is_filled_once_and_one_with_other_lessons_is_refused():
    store = InMemoryStore()
    held = frozen(store).items()
    assert frozen(store).items() == held
    fill(MemoryBank(store, ("experiment", "learning-all")), lesson("stranger"), attempt("stranger"))
    with pytest.raises(FrozenBankError, match=r"'memory' holds 2 lessons or attempts that are not among"):
        frozen(store)


@pytest.mark.parametrize(
    ("changes", "differs"),
    [
        *(({name: "other"}, True) for name in ("id", "title", "description", "content", "task_id")),
        ({"outcome": "failure"}, True),
        ({"tags": ("x",)}, False),
    ],
)
def test_a_digest_names_what_a_solver_may_be_shown(changes, differs):
    def digest(*items):
        return digest_of(fill(MemoryBank(InMemoryStore(), ("m",)), *items))

    one, two = lesson("p0", id="a"), lesson("p1", id="b")
    assert digest(one, two) == digest(two, one)
    assert (digest(one.model_copy(update=changes), two) != digest(one, two)) is differs
    assert len(digest(one)) == 16


def test_the_digest_of_examples_is_that_of_the_attempts_that_may_be_shown():
    def digest(*attempts):
        return digest_of(fill(MemoryBank(InMemoryStore(), ("m",)), lesson("p9"), *attempts), examples=True)

    assert digest(attempt("p0")) == digest(attempt("p0"), attempt("p1", "failure")) != digest(attempt("p2"))
    assert digest(attempt("p0")) != digest(attempt("p0").model_copy(update={"solution": "other"}))


def learning(name, **more):
    return row("learning", name, learned=2, verdict="success", **more)


def test_as_many_lessons_have_to_be_there_as_the_rows_say():
    others = [row("learning-vote-3", "p0", learned=9), learning("p2", error="TimeoutError: 9")]
    require_learned("learning", lessons(), [learning("p1"), learning("p0"), *others])
    with pytest.raises(FrozenBankError, match="'learning' holds 4 lessons and its rows say that 2 were learned"):
        require_learned("learning", lessons(), [learning("p1"), *others])


@pytest.mark.parametrize(("verdict", "lacking"), [("success", True), ("failure", True), ("indeterminate", False)])
def test_where_examples_are_shown_the_attempts_have_to_be_there_too(verdict, lacking):
    given = {**lessons(), "p0": Taught(taught("p0").items)}
    rows = [learning("p1"), learning("p0").model_copy(update={"verdict": verdict})]
    require_learned("learning", given, rows)
    if lacking:
        with pytest.raises(FrozenBankError, match="lacks the attempts at 1 of 2 problems, which an earlier version"):
            require_learned("learning", given, rows, episodes=True)
    else:
        require_learned("learning", given, rows, episodes=True)


def test_rows_of_an_arm_come_from_one_bank():
    rows = [
        row(bank_digest="same"),
        row(id="p1", bank_digest="failed", error="TimeoutError: 9"),
        row("memory-2", bank_digest="another"),
    ]
    require_same_bank("memory", "same", rows)
    with pytest.raises(FrozenBankError, match=r"'memory' is new and its rows .* another one \(none noted, same\)"):
        require_same_bank("memory", "new", [*rows, row(id="p2")])


def test_a_bank_that_is_given_is_shown_as_it_was_when_the_run_began(tmp_path, monkeypatch):
    store, opened = InMemoryStore(), []
    fill(MemoryBank(store, ("math",)), lesson("p0", id="old"), attempt("p1"))
    monkeypatch.setattr(banks, "open_without_embedder", lambda path: opened.append(path) or nullcontext(store))
    settings = config(train=None, bank=tmp_path / "bank", namespace=("math",), match="task")
    first = given_bank(InMemoryStore(), settings, tmp_path)
    fill(MemoryBank(store, ("math",)), lesson("p2", id="new"))
    for bank in (first, given_bank(InMemoryStore(), settings, tmp_path)):
        assert (bank.namespace, bank.match) == (("experiment", "given"), "task")
        assert ([item.id for item in bank.items()], len(bank.episodes())) == (["old"], 1)
        assert [(task.id, task.text) for task in tasks_of(bank)] == [("p0", "task p0"), ("p1", "task p1")]
    assert opened == [tmp_path / "bank"]
