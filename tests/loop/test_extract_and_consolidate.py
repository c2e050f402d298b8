"""The nodes that distil lessons and write them, each by itself."""

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from reasoningbank_langgraph import (
    Attempt,
    MemoryBank,
    MemoryItem,
    ReasoningBankState,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_retrieve,
)
from reasoningbank_langgraph.errors import MissingStateError
from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop.test_node_context import minted
from tests.loop.test_nodes import SIDES, event, run
from tests.loop_fakes import Capped, Switched, indexed_memory, learner, lessons, solver


@SIDES
def test_extract_leaves_items_with_their_source_and_tells_how_it_went(asynchronously):
    model = ScriptedChatModel([lessons("first", "first", "mail ann@example.com", "count apples")])
    judged = {
        "task": "Add 27 pears",
        "answer": "4",
        "messages": [AIMessage("I think.")],
        "verdict": Verdict(status="failure", judge="j", confidence=0.5).to_json(),
    }
    update, events = run(create_extract(model), judged, asynchronously=asynchronously)
    ids = [lesson["id"] for lesson in update["lessons"]]
    asked = {"asked": "plain", "fallbacks": events[0]["fallbacks"]}
    told = {"reason": None, "dropped": {"copied": 1}}
    assert events == [event("extracted", count=3, ids=ids, **told, **asked, usage={"calls": 1})]
    assert update["extraction"] == {
        **told,
        **asked,
        "truncated": False,
        "redacted": {"email": 3},
        "raw": None,
        "failure": None,
    }
    item = MemoryItem(**update["lessons"][0])
    assert (item.title, item.outcome, item.task, item.task_id) == (
        "first",
        "failure",
        "Add 27 pears",
        task_key("Add 27 pears"),
    )
    assert item.verifier_score == 0.5
    said = Attempt(task="Add 27 pears", task_id=item.task_id, answer="4", messages=judged["messages"])
    assert item.provenance.attempt_digest == said.digest(item.provenance.thread_id)
    assert (item.provenance.judge, item.provenance.model) == ("j", "ScriptedChatModel")
    assert update.keys() == {"lessons", "episodes", "extraction", "pending", "memory_usage"}
    assert update["pending"] is None


def test_a_missing_verdict_is_named_with_the_node_that_fills_it():
    with pytest.raises(MissingStateError, match=r"'extract'.*'verdict'.*'judge'"):
        run(create_extract(ScriptedChatModel([])), {"task": "add", "answer": "4"})


def test_extract_asks_with_the_cap_it_was_given_and_a_time_limit():
    model = Capped([lessons("first")], caps=[])
    run(create_extract(model, max_tokens=123), {"task": "add", "answer": "4", "verdict": {"status": "success"}})
    assert model.caps == [123]
    for create in (create_extract, create_judge):
        with pytest.raises(ValueError, match="time_limit"):
            create(model, time_limit=0)


@SIDES
def test_consolidate_writes_and_tells_what_is_new(asynchronously):
    store = indexed_memory()
    items = [item.to_json() for item in minted()]
    update, events = run(create_consolidate(), {"lessons": items}, store, asynchronously=asynchronously)
    ids = [item["id"] for item in items]
    assert update == {"written": ids, "unwritten": []}
    embedded = {"texts": 3, "characters": 11}
    assert events == [event("consolidated", count=2, ids=ids, namespace=["reasoningbank"], usage=embedded)]
    again, events = run(create_consolidate(), {"lessons": items}, store, asynchronously=asynchronously)
    assert (again, events[0]["count"], events[0]["ids"]) == (update, 0, ids)
    nothing, events = run(create_consolidate(), {}, store, asynchronously=asynchronously)
    assert (nothing, events[0]["count"]) == ({"written": [], "unwritten": []}, 0)


@SIDES
def test_consolidate_without_its_store_keeps_what_could_not_be_written_and_says_why(asynchronously):
    store, items = Switched(), [item.to_json() for item in minted()]
    store.writes = ConnectionError("no server")
    update, events = run(create_consolidate(), {"lessons": items}, store, asynchronously=asynchronously)
    waiting, problem = [{"namespace": ["reasoningbank"], "items": items, "seen": []}], "ConnectionError: no server"
    assert update == {"written": [], "unwritten": waiting, "memory_error": f"consolidate: {problem}"}
    told = {"count": 0, "ids": [], "namespace": ["reasoningbank"], "error": f"consolidate: {problem}"}
    assert events == [event("consolidated", **told, usage={})]
    store.writes = ArithmeticError("wrong")
    with pytest.raises(ArithmeticError):
        run(create_consolidate(), {"lessons": items}, store, asynchronously=asynchronously)


def test_a_forgotten_attempt_stays_forgotten_where_a_graph_of_ones_own_skips_extract():
    verdicts = [Verdict(status="success"), Verdict(status="indeterminate", reason="no_evidence")]
    builder = StateGraph(ReasoningBankState)
    builder.add_node("retrieve", create_retrieve())
    builder.add_node("solve", solver)
    builder.add_node("judge", create_judge(judge=lambda attempt: verdicts.pop(0)))
    builder.add_node("extract", create_extract(learner()))
    builder.add_node("consolidate", create_consolidate())
    builder.add_edge(START, "retrieve").add_edge("retrieve", "solve").add_edge("solve", "judge")
    learned = {"success": "extract", "indeterminate": "consolidate"}
    builder.add_conditional_edges("judge", lambda state: learned[state["verdict"]["status"]])
    builder.add_edge("extract", "consolidate")
    store, thread = indexed_memory(), {"configurable": {"thread_id": "t"}}
    graph, bank = builder.compile(checkpointer=InMemorySaver(), store=store), MemoryBank(store, "reasoningbank")
    graph.invoke({"task": "add two apples"}, thread)
    assert len(bank.episodes()) == 1
    bank.forget_all()
    graph.invoke({"task": "draw a map"}, thread)
    assert (bank.items(), bank.episodes()) == ([], [])
