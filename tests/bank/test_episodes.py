"""A judged attempt is kept beside its lessons: once, apart from them in every count, and gone when they are."""

import json
from itertools import count

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import PutOp

from reasoningbank_langgraph import Episode, MemoryBank, Verdict, create_reasoning_bank
from reasoningbank_langgraph.bank import Totals
from reasoningbank_langgraph.errors import FieldTooLongError, ImportFileError, InvalidNamespaceLabelError
from reasoningbank_langgraph.namespaces import check_filled, check_template, resolve
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.bank.test_forgetting import NAMESPACE, STORES, lesson
from tests.loop_fakes import Switched, indexed_memory, learner, lessons, open_store, verdict

CONFIG = {"configurable": {"thread_id": "t"}}
SECRET = "sk-proj-" + "a1B2c3D4e5" * 4


def episode(name, *, experience=None, used=(), thread="t", run="r", **changes):
    provenance = Provenance(thread_id=thread, run_id=run, memory_ids_used=used)
    values = {"id": name, "task": f"task {name}", "solution": f"did {name}", "outcome": "success"}
    return Episode(**{**values, "experience_id": experience or name, "provenance": provenance, **changes})


def of_episode(name, kept, **changes):
    taught = lesson(name, experience=kept.experience_id)
    return taught.model_copy(update={"provenance": kept.provenance, **changes})


def app(store, *, answers=None, titles=("one",), status="success", **options):
    numbers = answers or count()

    def solve(_):
        answer = str(next(numbers))
        return {"answer": answer, "messages": [AIMessage(f"It is {answer}, says {SECRET} <|im_start|>system")]}

    builder = create_reasoning_bank(solve, model=learner(status, titles), namespace=NAMESPACE, **options)
    return builder.compile(checkpointer=InMemorySaver(), store=store)


def ids(records):
    return [record.id for record in records]


@STORES
@pytest.mark.parametrize("status", ["success", "failure"])
def test_a_judged_attempt_is_kept_with_its_solution_and_without_its_secrets(kind, status, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        result = app(store, status=status).invoke({"task": f"Ask with {SECRET}"}, CONFIG)
        bank = MemoryBank(store, NAMESPACE)
        (kept,) = bank.episodes()
        assert (kept.outcome, kept.answer, kept.score, kept.rationale) == (status, "0", 0.9, "checked")
        assert kept.task == "Ask with [api key removed]"
        assert kept.solution == "It is 0, says [api key removed] <|im_start|>system"
        (taught,) = bank.items()
        assert [kept.id] == result["kept"]
        assert not kept.cut
        assert (taught.experience_id, taught.provenance) == (kept.experience_id, kept.provenance)


def test_an_attempt_that_taught_nothing_is_kept_and_an_indeterminate_one_is_not():
    store = indexed_memory()
    app(store, titles=()).invoke({"task": "add two apples"}, CONFIG)
    bank = MemoryBank(store, NAMESPACE)
    assert (len(bank.episodes()), bank.totals()) == (1, Totals(0, 1, 0, 0, 0))
    unsure = app(store, judge=lambda _: Verdict(status="indeterminate", reason="no_evidence"))
    assert unsure.invoke({"task": "add ten apples"}, CONFIG)["episodes"] == []
    assert len(bank.episodes()) == 1


def test_who_may_not_keep_solutions_keeps_the_lessons_alone():
    store = indexed_memory()
    app(store, episodes=False).invoke({"task": "add two apples"}, CONFIG)
    bank = MemoryBank(store, NAMESPACE)
    assert (bank.episodes(), bank.totals()) == ([], Totals(1, 1, 1, 0, 0))


@STORES
def test_an_episode_is_no_lesson_wherever_lessons_are_looked_for(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank, kept = MemoryBank(store, NAMESPACE), episode("e", task="red green")
        bank.add([of_episode("a", kept, task="red green")], episodes=[kept])
        bank.add([], episodes=[episode("f", task="red green blue")])
        assert ids(bank.episodes()) == ["e", "f"]
        assert ids(bank.items()) == ["a"]
        assert (bank.totals().items, bank.get("e"), bank.set_status(["e"], "quarantined")) == (1, None, [])
        assert [memory.item.id for memory in bank.search("red green blue grey", k=9, max_items=9)] == ["a"]
        assert kind == "memory" or store.verify().ok


@STORES
def test_episodes_lie_beside_the_bank_where_no_search_of_it_nor_an_older_version_meets_them(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store)
        assert {row.key for row in store.search(NAMESPACE, limit=99)} == {"a", "b", "c"}
        assert store.list_namespaces() == [("m",), ("m~episodes",), ("m~heads",), ("m~ledger",)]
        assert {row.key for row in store.search(("m~episodes",), limit=99)} == {"old", "new"}
        assert store.search((), filter={"bank": "m~episodes"}) == []
        assert [memory.item.id for memory in bank.search("task old", k=9, max_items=9)] == ["a", "b", "c"]


@pytest.mark.parametrize("label", ["ann~episodes", "~guard", "ann~episodes~credit", "{user}~episodes"])
def test_no_bank_may_end_like_a_namespace_beside_a_bank_and_the_error_names_one_that_may(label):
    for make in (check_template, check_filled, lambda labels: resolve(("m", "{user}"), {"user": labels[-1]})):
        with pytest.raises(
            InvalidNamespaceLabelError, match=r"put a label after it, as in \('\{user_id\}', 'lessons'\)"
        ):
            make(("m", label))
    assert resolve(("{user}", "lessons"), {"user": label}) == (label, "lessons")


@STORES
def test_what_an_attempt_left_is_embedded_in_one_call(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank, kept = MemoryBank(store, NAMESPACE), episode("e", task="red green")
        embedder = store.embeddings
        before = len(embedder.calls)
        bank.add([of_episode("a", kept, task="red green")], episodes=[kept])
        assert len(embedder.calls) == before + 1
        (found,) = store.search(("m~episodes",), query="red green")
        assert found.score == pytest.approx(1.0)


def test_an_episode_names_what_was_shown_and_the_model_that_solved():
    def solve(state):
        named = {"model_name": "tiny"} if "three" in state["task"] else {}
        return {"messages": [AIMessage("4", response_metadata=named)]}

    store = indexed_memory()
    graph = create_reasoning_bank(solve, model=learner(titles=("one",)), namespace=NAMESPACE).compile(store=store)
    graph.invoke({"task": "add two apples"})
    graph.invoke({"task": "add three apples"})
    first, second = MemoryBank(store, NAMESPACE).episodes()
    taught = MemoryBank(store, NAMESPACE).items()[0].id
    assert (first.shown, first.model) == ((), "")
    assert (second.shown, second.model) == ((taught,), "tiny")


async def test_episodes_are_read_and_written_asynchronously_too():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    await bank.aadd([], episodes=[episode("e")])
    assert await bank.aepisodes() == bank.episodes() != []


@STORES
def test_an_episode_is_written_with_its_lessons_in_one_batch_and_once(kind, tmp_path, monkeypatch):
    with open_store(kind, tmp_path / "bank") as store:
        batches, real = [], type(store).batch

        def batch(store, ops):
            batches.append(list(ops))
            return real(store, batches[-1])

        monkeypatch.setattr(type(store), "batch", batch)
        bank, kept = MemoryBank(store, NAMESPACE), episode("e")
        for _ in range(2):
            bank.add([of_episode("a", kept)], episodes=[kept])
        writes = [ops for ops in batches if any(isinstance(op, PutOp) for op in ops)]
        assert [[op.key for op in ops if op.namespace[0] in ("m", "m~episodes")] for ops in writes] == [["a", "e"]]


def test_a_replay_leaves_one_episode_and_a_fork_with_another_answer_a_second_one():
    store = indexed_memory()
    graph = app(store, answers=iter("112"))
    bank = MemoryBank(store, NAMESPACE)
    graph.invoke({"task": "add two apples"}, CONFIG)
    past = next(state for state in graph.get_state_history(CONFIG) if state.next == ("extract",))
    graph.invoke(None, past.config)
    assert len(bank.episodes()) == 1
    start = next(state for state in graph.get_state_history(CONFIG) if state.next == ("solve",))
    graph.invoke(None, start.config)
    graph.invoke(None, start.config)
    assert {kept.answer for kept in bank.episodes()} == {"1", "2"}
    assert len({kept.id for kept in bank.episodes()}) == len(bank.episodes())


@pytest.mark.parametrize("titles", [("one",), ()])
def test_an_episode_of_another_branch_is_hidden_where_its_lessons_are(titles):
    store = indexed_memory()
    graph = app(store, titles=titles)
    bank = MemoryBank(store, NAMESPACE)
    graph.invoke({"task": "add two apples"}, CONFIG)
    first = graph.get_state(CONFIG)
    graph.invoke({"task": "add three apples"}, CONFIG)
    graph.invoke({"task": "add four apples"}, first.config)
    tip = graph.get_state(CONFIG)
    assert [kept.task for kept in bank.as_of(first).episodes()] == ["add two apples"]
    assert [kept.task for kept in bank.as_of(tip).episodes()] == ["add two apples", "add four apples"]
    bank.reconcile("t", graph, forget=True)
    assert [kept.task for kept in bank.episodes()] == ["add two apples", "add four apples"]


def test_an_episode_waits_with_its_lessons_or_alone_until_the_bank_is_reachable():
    store = Switched()
    for titles, task in (((), "alone"), (("one",), "with a lesson")):
        graph = app(store, titles=titles)
        store.writes = ConnectionError("no server")
        assert len(graph.invoke({"task": task}, CONFIG)["unwritten"]) == 1
        store.writes = None
        assert graph.invoke({"task": f"{task}, again"}, CONFIG)["unwritten"] == []
    kept = MemoryBank(store.inner, NAMESPACE).episodes()
    assert [each.task for each in kept] == ["alone", "alone, again", "with a lesson", "with a lesson, again"]


def filled(store):
    """Two lessons of one episode, and what was learned in a run that was shown one of them."""
    bank, old = MemoryBank(store, NAMESPACE), episode("old", thread="t1", run="r1")
    bank.add([of_episode("a", old), of_episode("b", old)], episodes=[old])
    new = episode("new", used=("a",), thread="t2", run="r2")
    bank.add([of_episode("c", new)], episodes=[new])
    return bank


@STORES
@pytest.mark.parametrize(
    ("selector", "removed", "lessons_left", "episodes_left"),
    [
        ({"id": "old"}, ["a", "b", "c", "old"], [], []),
        ({"id": "old", "cascade": False}, ["old"], ["a", "b", "c"], ["new"]),
        ({"id": "a"}, ["a", "c"], ["b"], ["old"]),
        ({"id": "c"}, ["c"], ["a", "b"], ["old"]),
        ({"thread_id": "t2"}, ["c"], ["a", "b"], ["old"]),
        ({"thread_id": "t1", "cascade": False}, ["a", "b"], ["c"], ["new"]),
        ({"run_id": "r1"}, ["a", "b", "c"], [], []),
        ({"experience_id": "new"}, ["c"], ["a", "b"], ["old"]),
    ],
)
def test_what_is_forgotten_takes_its_episodes_along(kind, selector, removed, lessons_left, episodes_left, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store)
        assert sorted(bank.forget(**selector)) == removed
        assert ids(bank.items()) == lessons_left
        assert ids(bank.episodes()) == episodes_left


@STORES
def test_forgetting_all_forgets_the_episodes_too(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store)
        bank.add([], episodes=[episode("alone")])
        assert bank.forget_all() == ["a", "b", "c"]
        assert {tuple(row.namespace) for row in store.search(())} == {("m~heads",), ("m~ledger",)}


@STORES
def test_an_export_carries_episodes_and_two_imports_write_them_once(kind, tmp_path):
    with open_store(kind, tmp_path / "one") as one, open_store(kind, tmp_path / "two") as two:
        source, target = filled(one), MemoryBank(two, NAMESPACE)
        assert source.export_jsonl(tmp_path / "bank.jsonl") == 3
        assert target.import_jsonl(tmp_path / "bank.jsonl") == (3, 0)
        assert target.import_jsonl(tmp_path / "bank.jsonl") == (0, 3)
        assert (target.items(), target.episodes()) == (source.items(), source.episodes())


def test_a_file_without_episodes_is_written_as_older_versions_read_it(tmp_path):
    path, bank = tmp_path / "bank.jsonl", filled(indexed_memory())
    bank.export_jsonl(path)
    assert json.loads(path.read_text().splitlines()[0])["version"] == 2
    bank.forget("old", cascade=False)
    bank.forget("new", cascade=False)
    bank.export_jsonl(path)
    assert json.loads(path.read_text().splitlines()[0]) == {"format": "reasoningbank", "version": 1, "items": 3}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda lines: lines[:-1], "announces 2 episodes and has 1"),
        (lambda lines: [*lines[:-1], lines[-1].replace("did new", "did old")], "another text"),
        (lambda lines: [*lines[:-1], lines[-1].replace('"new"', '"\\u001b"')], "control characters"),
        (lambda lines: [lines[0].replace('"episodes": 2', '"episodes": true'), *lines[1:]], "number of episodes"),
    ],
)
def test_a_file_with_a_wrong_episode_is_refused_whole(change, problem, tmp_path):
    path, bank = tmp_path / "bank.jsonl", filled(indexed_memory())
    bank.export_jsonl(path)
    path.write_text("\n".join(change(path.read_text().splitlines())))
    bank.forget("a")
    bank.add([], episodes=[episode("new")])
    with pytest.raises(ImportFileError, match=problem):
        bank.import_jsonl(path)
    assert ids(bank.items()) == ["b"]


def test_a_solution_over_its_cap_is_refused_and_one_of_an_attempt_is_cut():
    with pytest.raises(FieldTooLongError, match="solution"):
        episode("e", solution="x" * 8_001)
    store = indexed_memory()
    replies = ScriptedChatModel(lambda asked: verdict() if "You check whether" in asked[0].text else lessons("one"))
    graph = create_reasoning_bank(lambda _: {"answer": "word " * 5_000}, model=replies, namespace=NAMESPACE)
    graph.compile(store=store).invoke({"task": "talk"})
    (kept,) = MemoryBank(store, NAMESPACE).episodes()
    assert len(kept.solution) <= 8_000
    assert kept.cut
    assert len(kept.answer) <= 2_000
