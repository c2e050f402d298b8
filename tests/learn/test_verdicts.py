"""A verdict may come twice, and another one may overturn it: lessons, episode and credit follow it."""

import json

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank, ReferenceJudge, Verdict, create_matts
from reasoningbank_langgraph.errors import CannotMergeError
from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.bank.test_forgetting import NAMESPACE, STORES
from tests.learn.test_deferred import CONFIG, RIGHT, WRONG, app, run, titles
from tests.loop_fakes import indexed_memory, learner, open_store


@STORES
def test_the_same_verdict_again_writes_nothing_and_asks_nothing(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        attempt = run(store)["pending"]["id"]
        bank, model = MemoryBank(store, NAMESPACE), learner(titles=("one",))
        first = bank.resolve(attempt, RIGHT, model=model)
        before = bank.items(), bank.episodes()
        again = bank.resolve(attempt, RIGHT, model=model)
        assert (again.added, again.ids) == (0, first.ids)
        assert (bank.items(), bank.episodes(), len(model.calls)) == (*before, 1)


def test_an_indeterminate_verdict_leaves_it_waiting():
    store = indexed_memory()
    attempt = run(store)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    assert bank.resolve(attempt, Verdict(status="indeterminate"), model=ScriptedChatModel([])).added == 0
    assert [one.id for one in bank.pending()] == [attempt]


@STORES
def test_a_later_verdict_overturns_an_earlier_one_and_a_third_brings_the_first_back(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        attempt = run(store)["pending"]["id"]
        bank = MemoryBank(store, NAMESPACE)
        first = bank.resolve(attempt, RIGHT, model=learner(titles=("one", "two")))
        second = bank.resolve(attempt, WRONG, model=learner(titles=("three",)))
        assert second.superseded == first.ids
        assert (titles(bank), titles(bank, "superseded")) == (["three"], ["one", "two"])
        (kept,) = bank.episodes()
        assert (kept.id, kept.outcome, kept.rationale, kept.provenance.judge) == (
            attempt,
            "failure",
            "thumb down",
            "user",
        )
        assert [(past.status, past.rationale) for past in kept.earlier] == [("success", "thumb up")]
        anew = bank.get(second.ids[0])
        assert (list(anew.supersedes), anew.outcome) == (first.ids, "failure")
        assert anew.experience_id == kept.experience_id
        assert [memory.item.title for memory in bank.search("add two pears", k=9, max_items=9)] == ["three"]
        assert bank.search_examples("add two pears", min_score=None) == []
        third = bank.resolve(attempt, RIGHT, model=ScriptedChatModel([]))
        assert (third.added, sorted(third.ids), third.superseded) == (0, sorted(first.ids), second.ids)
        assert (titles(bank), titles(bank, "superseded")) == (["one", "two"], ["three"])
        assert bank.resolve(attempt, RIGHT, model=ScriptedChatModel([])).added == 0
        found = bank.search("add two pears", k=9, max_items=9)
        assert {memory.item.title for memory in found} == {"one", "two"}
        assert len(bank.search_examples("add two pears", min_score=None)) == 1
        assert [past.status for past in bank.episodes()[0].earlier] == ["success", "failure"]
        assert kind == "memory" or store.verify().ok


def test_the_verdict_of_a_run_can_be_overturned_too_and_a_replay_does_not_undo_that():
    store, saver = indexed_memory(), InMemorySaver()
    graph = app(store, learn=True, model=learner(titles=("one",)), saver=saver)
    (attempt,) = graph.invoke({"task": "add two apples"}, CONFIG)["kept"]
    bank = MemoryBank(store, NAMESPACE)
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    past = [state for state in graph.get_state_history(CONFIG) if state.next in (("judge",), ("consolidate",))]
    for state in past:
        graph.invoke(None, state.config)
    assert (titles(bank), titles(bank, "superseded")) == (["two"], ["one"])
    assert [one.outcome for one in bank.episodes()] == ["failure"]


def test_who_may_not_keep_attempts_keeps_the_lessons_alone():
    store = indexed_memory()
    attempt = run(store, episodes=False)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    bank.resolve(attempt, RIGHT, model=learner(titles=("one",)))
    assert (bank.episodes(), titles(bank), bank.pending()) == ([], ["one"], [])
    assert bank.resolve(attempt, RIGHT, model=learner(titles=("two",))).added == 0
    gone = bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    assert (len(gone.superseded), titles(bank), titles(bank, "superseded")) == (1, [], ["one"])
    assert bank.resolve(attempt, RIGHT, model=ScriptedChatModel([])).ids == list(gone.superseded)
    assert titles(bank) == ["one"]


def test_an_overturned_episode_is_exported_and_imported_with_its_earlier_verdicts(tmp_path):
    store = indexed_memory()
    attempt = run(store)["pending"]["id"]
    bank, other = MemoryBank(store, NAMESPACE), MemoryBank(indexed_memory(), NAMESPACE)
    bank.resolve(attempt, RIGHT, model=learner(titles=("one",)))
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    bank.export_jsonl(tmp_path / "bank.jsonl")
    assert json.loads((tmp_path / "bank.jsonl").read_text().splitlines()[0])["version"] == 5
    other.import_jsonl(tmp_path / "bank.jsonl")
    assert (other.episodes(), titles(other)) == (bank.episodes(), ["two"])


async def test_it_is_the_same_asynchronously():
    store = indexed_memory()
    attempt = (await app(store).ainvoke({"task": "add two apples"}, CONFIG))["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    assert [one.id for one in await bank.apending()] == [attempt]
    assert (await bank.aresolve(attempt, RIGHT, model=learner(titles=("one",)))).added == 1
    assert (await bank.aresolve(attempt, WRONG, model=learner(titles=("two",)))).added == 1
    assert (titles(bank), await bank.apending()) == (["two"], [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Credit(1, right_with=1), Credit(1, ties=1)),
        (Credit(1, ties=1), Credit(1, right_without=1)),
        (Credit(3, right_with=2, ties=1), Credit()),
    ],
)
def test_an_overturned_verdict_corrects_the_credit_of_the_lessons_that_were_shown(before, after):
    def utility(moment=None):
        worth = (bank.as_of(moment) if moment else bank).get(lesson).utility
        return Credit(worth.used, worth.helped, worth.hurt, worth.ties)

    store, bank = indexed_memory(), None
    graph = app(store, learn=True, model=learner(titles=("one",)))
    graph.invoke({"task": "add two apples"}, CONFIG)
    graph.invoke({"task": "add two pears"}, {"configurable": {"thread_id": "b"}})
    bank = MemoryBank(store, NAMESPACE)
    lesson, shown = bank.items()[0].id, bank.episodes()[1]
    assert shown.shown == (lesson,)
    said = GroupCredit(ids=(lesson,), credit=before, known_as=shown.id, provenance=shown.provenance)
    bank.add([], evidence=Evidence(credit=said))
    assert utility() == before
    moments = [utc_now()]
    bank.resolve(shown.id, WRONG, model=learner(titles=("two",)))
    assert utility() == after
    moments.append(utc_now())
    bank.add([], evidence=Evidence(credit=said))
    assert utility() == after
    bank.resolve(shown.id, RIGHT, model=learner())
    assert utility() == before
    assert [utility(moment) for moment in moments] == [before, after]


def test_the_verdict_on_any_rollout_of_a_group_can_be_overturned():
    store, answers = indexed_memory(), iter(["1", "14", "3"])
    graph = create_matts(
        lambda _: {"answer": next(answers)},
        model=learner(titles=("one",)),
        judge=ReferenceJudge(),
        k=3,
        namespace=NAMESPACE,
        max_concurrency=1,
    ).compile(store=store)
    graph.invoke({"task": "add two apples", "reference": "14"})
    bank = MemoryBank(store, NAMESPACE)
    other = next(one for one in bank.episodes() if one.answer == "3")
    bank.resolve(other.id, RIGHT, model=learner(titles=("two",)))
    assert {(one.answer, one.outcome, len(one.earlier)) for one in bank.episodes()} == {
        ("1", "failure", 0),
        ("14", "success", 0),
        ("3", "success", 1),
    }
    assert (titles(bank), titles(bank, "superseded")) == (["two"], ["one"])


def test_the_ledger_tells_of_each_verdict_and_of_the_lessons_that_it_changed():
    store = indexed_memory()
    attempt = run(store)["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    first = bank.resolve(attempt, RIGHT, model=learner(titles=("one",)))
    second = bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    bank.resolve(attempt, RIGHT, model=ScriptedChatModel([]))
    bank.resolve(attempt, RIGHT, model=ScriptedChatModel([]))
    told = [(change.kind, list(change.ids), change.after) for change in bank.log()]
    right, wrong = {"outcome": "success"}, {"outcome": "failure"}
    active, out = {"status": "active"}, {"status": "superseded"}
    assert ("resolved", [attempt], right) == told[0]
    assert sorted(told[1][1]) == sorted([*first.ids, attempt])
    assert told[2:] == [
        ("resolved", [attempt], wrong),
        ("superseded", first.ids, out),
        ("added", second.ids, active),
        ("resolved", [attempt], right),
        ("superseded", second.ids, out),
        ("released", first.ids, active),
    ]
    assert [change.before for change in bank.log() if change.kind == "resolved"] == [None, right, wrong]
    assert bank.verify_log().ok


def test_an_attempt_that_is_given_up_or_forgotten_leaves_a_row_in_the_ledger():
    store = indexed_memory()
    first = run(store, "add two apples")["pending"]["id"]
    second = run(store, "add two pears")["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    bank.drop_pending(first)
    bank.forget(second)
    assert [(change.kind, change.ids, change.before) for change in bank.log()] == [
        ("forgotten", (first,), {"status": "waiting"}),
        ("forgotten", (second,), {"status": "waiting"}),
    ]


def resolved(store, *names):
    attempt, bank = run(store)["pending"]["id"], MemoryBank(store, NAMESPACE)
    bank.resolve(attempt, RIGHT, model=learner(titles=names))
    return attempt, bank


def test_lessons_that_were_pruned_before_their_verdict_was_overturned_are_not_brought_back():
    attempt, bank = resolved(indexed_memory(), "one", "uno")
    bank.prune(capacity=1, dry_run=False)
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    assert bank.undo_prune() == []
    assert titles(bank) == ["two"]
    bank.resolve(attempt, RIGHT, model=learner(titles=("three",)))
    assert len(bank.undo_prune()) == 1
    assert sorted(titles(bank)) == ["one", "uno"]


def test_a_merged_lesson_goes_and_comes_with_the_verdict_of_those_it_stands_for():
    attempt, bank = resolved(indexed_memory(), "one", "uno")
    merged = bank.merge([item.id for item in bank.items()], title="merged")
    assert bank.resolve(attempt, WRONG, model=learner(titles=("two",))).superseded == [merged.id]
    assert bank.undo_merge(merged.id) == []
    assert titles(bank) == ["two"]
    bank.resolve(attempt, RIGHT, model=learner(titles=("three",)))
    assert titles(bank) == ["merged"]
    assert len(bank.undo_merge(merged.id)) == 2
    assert sorted(titles(bank)) == ["one", "uno"]


def test_a_lesson_of_a_later_verdict_is_no_merged_one_in_the_bank_that_imports_it(tmp_path):
    attempt, bank = resolved(indexed_memory(), "one")
    (later,) = bank.resolve(attempt, WRONG, model=learner(titles=("two",))).ids
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other = MemoryBank(indexed_memory(), NAMESPACE)
    other.import_jsonl(tmp_path / "bank.jsonl")
    for each in (bank, other):
        with pytest.raises(CannotMergeError, match="no merged lesson"):
            each.undo_merge(later)


@STORES
def test_a_bank_of_the_past_has_the_verdict_of_then(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        attempt, bank = run(store)["pending"]["id"], MemoryBank(store, NAMESPACE)
        times = [utc_now()]
        for verdict in (RIGHT, WRONG, RIGHT, WRONG):
            bank.resolve(attempt, verdict, model=learner())
            times.append(utc_now())
        before, *after = map(bank.as_of, times)
        assert before.episodes() == []
        assert [one.episodes()[0].outcome for one in after] == ["success", "failure", "success", "failure"]
        assert [one.episodes()[0].rationale for one in after] == ["thumb up", "thumb down", "thumb up", "thumb down"]
        assert [one.episodes()[0].provenance.judge for one in after] == ["user"] * 4
        assert [[past.status for past in one.episodes()[0].earlier] for one in after[:3]] == [
            [],
            ["success"],
            ["success", "failure"],
        ]
        assert after[3].episodes() == bank.episodes()
        assert {node.outcome for node in after[0].graph().nodes if node.kind == "episode"} == {"success"}
        shown = [one.search_examples("add two pears", min_score=None) for one in after]
        assert [[example.episode.outcome for example in some] for some in shown] == [["success"], []] * 2


def test_an_imported_episode_has_the_verdict_it_was_imported_with(tmp_path):
    attempt, bank = resolved(indexed_memory(), "one")
    other = MemoryBank(indexed_memory(), NAMESPACE)
    bank.resolve(attempt, WRONG, model=learner(titles=("two",)))
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other.import_jsonl(tmp_path / "bank.jsonl")
    then = utc_now()
    other.resolve(attempt, RIGHT, model=learner())
    assert [one.episodes()[0].outcome for one in (other.as_of(then), other)] == ["failure", "success"]
