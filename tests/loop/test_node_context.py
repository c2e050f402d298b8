"""What a node knows of the run it is part of, and what its lessons say of that run."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import ExecutionInfo, Runtime
from langgraph.types import RetryPolicy

from reasoningbank_langgraph import Attempt, MemoryItem, RetrievedMemory, Verdict, create_reasoning_bank
from reasoningbank_langgraph.chat.tally import Tally
from reasoningbank_langgraph.errors import MissingStoreError
from reasoningbank_langgraph.events import TYPE, JudgedEvent, milliseconds_since
from reasoningbank_langgraph.extraction import PROMPT_HASH, Extraction, Judged, make_items
from reasoningbank_langgraph.nodes._base import Context
from reasoningbank_langgraph.nodes.extract import origin_of
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.state.lineage import Line, micros
from tests.loop_fakes import Switched, indexed_memory, learner, solver

RUN = ExecutionInfo("1f0ce0b1-8f2a-6e10-8002-3c7f9d2b1a44", "extract:1", "task 1", "thread 1", "run 1")


def context(info=RUN, state=None, **options):
    return Context("extract", {}, Runtime(execution_info=info, **options), state or {}, Tally(), [])


def test_what_a_node_knows_of_its_run_comes_from_the_runtime():
    known = context(store=(store := indexed_memory()))
    assert (known.thread_id, known.nested, known.store) == ("thread 1", False, store)
    assert context(RUN.patch(checkpoint_ns="loop:1|extract:2")).nested
    assert context(RUN.patch(thread_id=7)).thread_id == "7"
    for info in (None, RUN.patch(thread_id=None)):
        assert context(info).thread_id is None
    assert not context(None).nested
    with pytest.raises(MissingStoreError, match="'extract'"):
        context().store  # noqa: B018


def test_an_event_tells_how_long_a_step_took_in_milliseconds(monkeypatch):
    events = []
    monkeypatch.setattr(time, "perf_counter", lambda: 3.0123456)
    event = JudgedEvent(type=TYPE, event="judged", ms=milliseconds_since(1.0), count=1, ids=[])
    context(stream_writer=events.append).emit(event)
    assert events == [{"type": "reasoningbank", "event": "judged", "ms": 2012.346, "count": 1, "ids": []}]


def test_a_step_began_when_its_checkpoint_was_made_and_never_in_the_future():
    moment = datetime(2025, 11, 30, 18, 32, 10, 123_457, tzinfo=UTC)
    ticks = (moment - datetime(1582, 10, 15, tzinfo=UTC)) // timedelta(microseconds=1) * 10 + 7
    made = UUID(int=(ticks >> 12) << 80 | 6 << 76 | (ticks & 0xFFF) << 64 | 2 << 62 | 5)
    assert made.version == 6
    assert context(RUN.patch(checkpoint_id=str(made))).began == moment
    future = UUID(int=made.int | 1 << 127)
    for name in (str(future), "no id", "1f0ce0b1-8f2a-4e10-8002-3c7f9d2b1a44"):
        before = utc_now()
        assert before <= context(RUN.patch(checkpoint_id=name)).began <= utc_now()
    before = utc_now()
    assert before <= context(None).began <= utc_now()


def test_an_attempt_began_with_its_checkpoint_though_its_retrieval_was_tried_again():
    store, errors = Switched(), [KeyError("once")]
    store.reads = lambda: errors.pop() if errors else None
    builder = create_reasoning_bank(solver, model=learner())
    builder.nodes["retrieve"].retry_policy = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=KeyError)
    graph, config = builder.compile(checkpointer=InMemorySaver(), store=store), {"configurable": {"thread_id": "t"}}
    attempt = graph.invoke({"task": "add two apples"}, config)["attempt"]
    assert errors == []
    (before,) = (state for state in graph.get_state_history(config) if state.next == ("retrieve",))
    made = context(RUN.patch(checkpoint_id=before.config["configurable"]["checkpoint_id"])).began
    assert attempt["line"][-1][1] == micros(made)


TRIED = Attempt(task="add", task_id="p1", answer="4")

FOUND = Extraction([{"title": name, "description": "d", "content": "c"} for name in ("a", "b")])


def minted(info=RUN, attempt=TRIED, status="success", **more):
    judged = Judged(attempt, Verdict(status=status, judge="j", confidence=0.5))
    return make_items(judged, FOUND.items, origin_of(judged, "m", context(info, **more)))


def test_an_item_says_which_run_of_which_node_made_it_of_what():
    line = Line((("a", 1, 2), ("b", 3, None)), "a", "row")
    shown = MemoryItem(title="t", description="d", content="c", outcome="success", task="other")
    attempt = TRIED.model_copy(update={"memories": (RetrievedMemory(item=shown, why="near"),)})
    before = micros(utc_now())
    first, second = minted(attempt=attempt, state={"attempt": line.record()})
    known = first.provenance
    assert (known.thread_id, known.checkpoint_ns, known.checkpoint_id) == ("thread 1", "extract:1", RUN.checkpoint_id)
    assert (known.task_id, known.run_id, known.judge, known.model) == ("task 1", "run 1", "j", "m")
    assert (known.prompt_hash, known.memory_ids_used) == (PROMPT_HASH, (shown.id,))
    assert known.attempt_digest == attempt.digest("thread 1")
    assert (known.line[0], known.line[1][:2], known.origin, known.after) == (("a", 1, 2), ("b", 3), "a", "row")
    assert before <= known.line[1][2] <= micros(utc_now())
    assert first.experience_id == second.experience_id
    assert [item.title for item in (first, second)] == ["a", "b"]
    assert (first.outcome, first.task, first.task_id) == ("success", "add", "p1")
    assert [item.outcome for item in minted(status="failure")] == ["failure"] * 2


def test_equal_runs_give_equal_ids_on_every_machine_and_others_give_others():
    ids = [item.id for item in minted()]
    assert ids == ["7325b782-7622-5645-897f-f9bcdf930f26", "7bd50114-1c06-575d-8181-13970cc0e2b6"]
    changes = ({"thread_id": "thread 2"}, {"checkpoint_ns": "extract:2"}, {"task_id": "task 2"})
    others = [item for change in changes for item in minted(RUN.patch(**change))]
    assert len({*ids, *(item.id for item in others)}) == 8
    assert len({item.experience_id for item in [*minted(), *others]}) == 4
    nameless = ["96f01f50-6ac7-582c-9e85-f342b6f3b7d5", "fb7e0a61-6421-57d6-a464-bd25eecf24a5"]
    assert [item.id for item in minted(RUN.patch(thread_id=None))] == nameless
    assert [item.id for item in minted(RUN.patch(checkpoint_id="x", run_id="y"))] == ids
    unknown = minted(None)[0].provenance
    assert (unknown.thread_id, unknown.checkpoint_ns, unknown.checkpoint_id) == (None, "", None)
    assert (unknown.task_id, unknown.run_id) == (None, None)


def test_the_prompts_are_told_by_their_hash():
    assert prompt_hash("a", "b") != prompt_hash("ab") != PROMPT_HASH
