"""An answer is never kept waiting: what a run leaves is learned from afterwards, by a worker of the same process."""

import asyncio
import subprocess
import sys
import threading

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import (
    EnsembleJudge,
    MemoryBank,
    ReferenceJudge,
    Verdict,
    create_matts,
    create_reasoning_bank,
)
from reasoningbank_langgraph.errors import StoreUnavailableError
from reasoningbank_langgraph.learn import adrain, drain
from reasoningbank_langgraph.nodes import _background
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.bank.test_forgetting import NAMESPACE, STORES
from tests.conftest import REPOSITORY
from tests.learn.test_deferred import CONFIG, RIGHT, app, run, titles
from tests.learn.test_outages import failing
from tests.loop_fakes import Switched, indexed_memory, learner, lessons, open_store, solver, verdict


class Gated(ScriptedChatModel):
    """Answers only once the gate is open."""

    def __init__(self, gate, status="success"):
        super().__init__(lambda messages: self.reply(messages, gate, status))

    @staticmethod
    def reply(messages, gate, status):
        assert gate.wait(60)
        return verdict(status) if "You check whether" in messages[0].text else lessons("one")


@STORES
def test_the_answer_is_there_before_the_model_is_asked_and_the_lessons_come_after_it(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        gate = threading.Event()
        result = run(store, learn="background", model=Gated(gate))
        bank = MemoryBank(store, NAMESPACE)
        assert (result["answer"], bank.items()) == ("\\boxed{14}", [])
        assert [one.waits_for for one in bank.pending()] == ["model"]
        assert not drain(timeout=0.01)
        gate.set()
        assert drain()
        assert (titles(bank), bank.pending(), len(bank.episodes())) == (["one"], [], 1)
        assert [one.id for one in bank.episodes()] == result["kept"]
        assert {change.actor for change in bank.log()} == {"graph"}


@pytest.mark.parametrize("status", ["success", "failure"])
async def test_an_async_graph_learns_in_the_background_too(status):
    store, gate = indexed_memory(), threading.Event()
    await app(store, learn="background", model=Gated(gate, status)).ainvoke({"task": "add two apples"}, CONFIG)
    bank = MemoryBank(store, NAMESPACE)
    assert len(await bank.apending()) == 1
    gate.set()
    assert await adrain()
    assert [(item.title, item.outcome) for item in bank.items()] == [("one", status)]


async def test_a_judge_that_is_an_async_function_judges_in_the_background():
    async def judge(attempt):
        await asyncio.sleep(0)
        return attempt.answer == "\\boxed{14}"

    store = indexed_memory()
    graph = app(store, learn="background", model=learner(titles=("one",)), judge=judge)
    await graph.ainvoke({"task": "add two apples"}, CONFIG)
    assert await adrain()
    assert [item.outcome for item in MemoryBank(store, NAMESPACE).items()] == ["success"]


async def test_judges_that_are_async_functions_judge_in_the_background_in_an_ensemble_too():
    async def unsure(attempt):
        return Verdict(status="indeterminate", reason="no_evidence")

    async def judge(attempt):
        await asyncio.sleep(0)
        return attempt.answer == "\\boxed{14}"

    store, judges = indexed_memory(), [ReferenceJudge(), EnsembleJudge([unsure, judge])]
    graph = app(store, learn="background", model=learner(titles=("one",)), judge=EnsembleJudge(judges))
    await graph.ainvoke({"task": "add two apples"}, CONFIG)
    assert await adrain()
    assert [item.outcome for item in MemoryBank(store, NAMESPACE).items()] == ["success"]


def test_an_attempt_at_which_a_judge_is_mistaken_waits_and_keeps_no_other_from_being_learned(caplog):
    store = indexed_memory()
    graph = app(
        store, learn="background", model=learner(titles=("one",)), judge=lambda one: "pears" in one.task or None
    )
    for task in ("add two apples", "add two pears"):
        graph.invoke({"task": task}, CONFIG)
        assert drain()
    bank = MemoryBank(store, NAMESPACE)
    assert [one.task for one in bank.pending()] == ["add two apples"]
    assert [item.task for item in bank.items()] == ["add two pears"]
    assert caplog.text.count("must return a Verdict") == 1


def test_each_tenant_learns_in_a_bank_of_its_own():
    store = indexed_memory()
    graph = create_reasoning_bank(
        solver, model=learner(titles=("one",)), namespace=("m", "{user}"), learn="background"
    ).compile(store=store)
    for user in ("ann", "bob", "ann"):
        graph.invoke({"task": f"add for {user}"}, {"configurable": {"user": user}})
    assert drain()
    tasks = [[item.task for item in MemoryBank(store, ("m", user)).items()] for user in ("ann", "bob")]
    assert tasks == [["add for ann"], ["add for bob"]]


@pytest.mark.parametrize("mistake", [[], [1, 2]], ids=["raises", "is no verdict"])
def test_a_judge_that_is_mistaken_at_an_attempt_is_asked_about_an_equal_one_of_another_tenant_or_store(mistake):
    said = [[True], [True], mistake]
    builder = create_reasoning_bank(
        solver,
        model=learner(titles=("one",)),
        judge=lambda _: max(said.pop()),
        namespace=("{user}",),
        learn="background",
    )
    stores = [indexed_memory(), indexed_memory()]
    for store, user in ((stores[0], "ann"), (stores[0], "bob"), (stores[1], "ann")):
        builder.compile(store=store).invoke({"task": "add two apples"}, {"configurable": {"user": user}})
        assert drain()
    kept = [len(MemoryBank(store, (user,)).items()) for store in stores for user in ("ann", "bob")]
    assert kept == [0, 1, 1, 0]


def test_what_another_process_left_or_an_outage_is_learned_with_the_next_attempt():
    store = indexed_memory()
    run(store, "add two apples", learn=True, model=failing("judge"))
    run(store, "add two plums", learn="deferred")
    run(store, "add two pears", learn="background", model=learner(titles=("one",)))
    assert drain()
    bank = MemoryBank(store, NAMESPACE)
    assert [item.task for item in bank.items()] == ["add two apples", "add two pears"]
    assert [one.task for one in bank.pending()] == ["add two plums"]


def test_an_outage_in_the_background_leaves_the_attempt_waiting():
    store = indexed_memory()
    down = failing("judge")
    run(store, "add two apples", learn="background", model=down)
    assert drain()
    run(store, "add two pears", learn="background", model=down)
    assert drain()
    bank = MemoryBank(store, NAMESPACE)
    assert (len(bank.pending()), bank.items(), len(down.calls)) == (2, [], 2)


def test_a_store_that_is_out_of_reach_in_the_background_is_logged_and_loses_nothing(caplog):
    store, gate = Switched(), threading.Event()
    run(store, learn="background", model=Gated(gate))
    store.writes = StoreUnavailableError("no server at http://ann:s3cr3t@db")
    gate.set()
    assert drain()
    assert "what waits is kept" in caplog.text
    assert "s3cr3t" not in caplog.text
    assert len(MemoryBank(store.inner, NAMESPACE).pending()) == 1


def test_more_banks_than_the_queue_holds_wait_for_their_next_run(monkeypatch, caplog):
    monkeypatch.setattr(_background, "QUEUE", 1)
    store, gate = indexed_memory(), threading.Event()
    graph = create_reasoning_bank(solver, model=Gated(gate), namespace=("{user}",), learn="background").compile(
        store=store
    )
    for user in ("ann", "bob", "cat"):
        graph.invoke({"task": "add two apples"}, {"configurable": {"user": user}})
    gate.set()
    assert drain()
    left = [user for user in ("ann", "bob", "cat") if MemoryBank(store, (user,)).pending()]
    assert left
    assert left[-1] == "cat"
    assert "waits for its next run" in caplog.text
    graph.invoke({"task": "add two pears"}, {"configurable": {"user": "cat"}})
    assert drain()
    assert len(MemoryBank(store, ("cat",)).items()) == 2


def test_several_attempts_are_contrasted_in_the_background():
    store, answers = indexed_memory(), iter(["14", "3"])
    graph = create_matts(
        lambda _: {"answer": next(answers)},
        model=learner(titles=("one",)),
        judge=ReferenceJudge(),
        k=2,
        namespace=NAMESPACE,
        max_concurrency=1,
        learn="background",
    ).compile(store=store, checkpointer=InMemorySaver())
    result = graph.invoke({"task": "add two apples", "reference": "14"}, CONFIG)
    assert drain()
    bank = MemoryBank(store, NAMESPACE)
    assert ([item.outcome for item in bank.items()], bank.pending()) == (["contrast"], [])
    assert sorted(one.outcome for one in bank.episodes()) == ["failure", "success"]
    assert set(result["kept"]) < {one.id for one in bank.episodes()}


def test_learning_in_the_background_needs_a_judge_and_a_model_that_distils():
    for given in ({}, {"judge": ReferenceJudge()}, {"extract_model": learner()}):
        with pytest.raises(ValueError, match="needs a model that"):
            create_reasoning_bank(solver, learn="background", **given)


@pytest.mark.slow
def test_a_program_that_ends_waits_for_its_workers(tmp_path):
    program = f"""
from reasoningbank_langgraph import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.learn.test_deferred import run
from tests.loop_fakes import learner

store = ChromaStore.from_path({str(tmp_path / "bank")!r}, embeddings=HashEmbeddings())
run(store, learn="background", model=learner(titles=("one",)))
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=REPOSITORY, timeout=300)
    with open_store("chroma", tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        assert (titles(bank), bank.pending()) == (["one"], [])


@pytest.mark.slow
async def test_a_store_that_needs_the_loop_is_written_to_while_the_loop_is_drained(tmp_path):
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "bank.sqlite")) as store:
        await store.setup()
        graph = app(store, learn="background", model=learner(titles=("one",)))
        await graph.ainvoke({"task": "add two apples"}, CONFIG)
        assert await adrain(timeout=60)
        bank = MemoryBank(store, NAMESPACE)
        assert ([item.title for item in await bank.aitems()], await bank.apending()) == (["one"], [])


@pytest.mark.parametrize("learn", [True, "background", "deferred"])
def test_lessons_have_the_same_tags_and_equal_ones_are_left_out_whenever_they_are_learned(learn):
    store = indexed_memory()
    taken = {"metadata": {"tags": "sums"}, "policy": "skip"}
    model = learner(titles=("one",), repeats=True)
    bank = MemoryBank(store, NAMESPACE)
    for task in ("add two apples", "count the plums"):
        given = {} if learn == "deferred" else {"model": model}
        run(store, task, learn=learn, **given, **taken)
        assert drain()
        for pending in bank.pending():
            bank.resolve(pending.id, RIGHT, model=model, **taken)
    assert [(item.title, item.tags) for item in bank.items()] == [("one", ("sums",))]
    assert (len(bank.episodes()), bank.pending()) == (2, [])
