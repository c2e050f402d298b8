"""In async code nothing blocks the event loop: no file, no lock that is held, no sleep, no socket, on any path."""

import asyncio
from datetime import timedelta

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import (
    ChromaStore,
    Guard,
    MemoryBank,
    ReasoningBankMiddleware,
    Scaling,
    Verdict,
    create_reasoning_bank,
    create_recall_tool,
)
from reasoningbank_langgraph.learn import alearn_from_threads, aresolve_overdue
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedToolModel
from tests.agents.agent_fakes import call
from tests.loop_fakes import learner, open_store

blockbuster = pytest.importorskip("blockbuster", reason="needs blockbuster (extra `dev`)")
CONFIG = {"configurable": {"thread_id": "t"}}


@pytest.fixture(params=["memory", "chroma"])
def store(request, tmp_path):
    with open_store(request.param, tmp_path / "bank") as store:
        yield store


@pytest.fixture
def unblocked(store):
    with blockbuster.blockbuster_ctx("reasoningbank_langgraph"):
        yield store


async def solver(state):
    await asyncio.sleep(0)
    return {"answer": "4"}


def loop(store, **settings):
    graph = create_reasoning_bank(solver, model=learner(), namespace="m", **settings)
    return graph.compile(checkpointer=InMemorySaver(), store=store)


def test_a_blocking_call_of_the_package_would_be_noticed(unblocked):
    async def search():
        return MemoryBank(unblocked, "m").export_jsonl("/dev/null")

    with pytest.raises(blockbuster.BlockingError):
        asyncio.run(search())


@pytest.mark.parametrize(
    "settings",
    [
        {"show": "both", "policy": "skip", "levels": True, "min_score": 0.1},
        {"guard": Guard()},
        {"scaling": Scaling(k=2)},
        {"scaling": Scaling(k=3, memory="on_disagreement")},
        {"learn": "deferred"},
        {"learn": "background"},
    ],
    ids=["loop", "guard", "matts", "gate", "deferred", "background"],
)
async def test_the_loop(settings, unblocked):
    app = loop(unblocked, **settings)
    for task in ("add two apples", "add two pears"):
        result = await app.ainvoke({"task": task}, CONFIG)
        assert result["answer"] == "4"
        assert result["memory_error"] is None


@pytest.mark.parametrize("learn", [True, "deferred", "background"])
async def test_an_agent_with_a_memory_and_a_tool_to_recall(learn, unblocked):
    model = ScriptedToolModel([call("recall_lessons", query="add"), "4"] * 2)
    memory = ReasoningBankMiddleware(model=learner(), namespace="m", learn=learn)
    app = create_agent(model, [create_recall_tool(namespace="m")], middleware=[memory], store=unblocked)
    for task in ("add two apples", "add two pears"):
        result = await app.ainvoke({"messages": [("user", task)]})
        assert result["messages"][-1].text == "4"


async def test_a_bank(unblocked):
    await loop(unblocked, learn="deferred").ainvoke({"task": "add two apples"}, CONFIG)
    bank = MemoryBank(unblocked, "m")
    (waiting,) = await bank.apending()
    await bank.aresolve(waiting.id, Verdict(status="success", judge="user"), model=learner())
    (first, *_) = await bank.aitems()
    assert (await bank.asearch("add two pears"))[0].item.experience_id == first.experience_id
    assert (await bank.awhy(first.id)).item == first
    assert await bank.aforget(first.id) == [first.id]


async def test_all_else_that_a_bank_does(unblocked):
    bank, saver = MemoryBank(unblocked, "m"), InMemorySaver()
    reads = create_reasoning_bank(solver, namespace="m", learn=False).compile(checkpointer=saver, store=unblocked)
    await reads.ainvoke({"task": "add two apples"}, CONFIG)
    coverage = await alearn_from_threads(reads, model=learner(), checkpointer=saver, store=unblocked, namespace="m")
    assert coverage.learned == 1
    one, two = [item.id for item in await bank.aitems()]
    await bank.acontradictions(learner())
    await bank.aundo_merge((await bank.amerge([one, two])).id)
    await bank.aundo_redistil((await bank.aredistil(learner(titles=("sort",)))).run)
    await bank.aprune(capacity=1, dry_run=False)
    assert len(await bank.aundo_prune()) == 1
    await bank.asearch_examples("add two pears")
    await bank.agraph()
    assert (await bank.astats()).totals.items == 4
    assert (await bank.averify_log()).ok
    await loop(unblocked, learn="deferred").ainvoke({"task": "add two plums"}, CONFIG)
    assert (await aresolve_overdue(bank, model=learner(), after=timedelta(0))).resolved == 1
    await bank.aforget_all()


async def test_a_folder_that_is_opened_in_a_thread_and_closed(tmp_path):
    with blockbuster.blockbuster_ctx("reasoningbank_langgraph"):
        opened = asyncio.to_thread(ChromaStore.from_path, tmp_path / "bank", embeddings=HashEmbeddings())
        async with await opened as store:
            await store.aput(("m",), "a", {"text": "red"})
            assert (await store.aget(("m",), "a")).value == {"text": "red"}
