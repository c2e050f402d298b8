"""A run that waited for a person or failed is given up: what the next one brings is its own, even if it is the same."""

import json
import pickle
from contextlib import contextmanager

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from reasoningbank_langgraph import ReasoningBankState, create_retrieve
from reasoningbank_langgraph.state.channels import Earlier, Found, Given
from tests.bank.test_turns import BUILDS, CONFIG, GRAPHS, compiled, loop, own_graph, said, solve
from tests.loop_fakes import indexed_memory

TASK = "answer the letter"
OWN = pytest.mark.parametrize("build", [loop, own_graph], ids=["loop", "own graph"])


def letter(text, **given):
    return {"task": TASK, **said(text), **given}


def waits(state):
    """Ask a person about apples."""
    if "apples" in f"{state['task']} {state['messages'][-1:]}":
        return {**solve(state), "answer": interrupt("may I?")}
    return solve(state)


def begun(result):
    return {name: result["attempt"][name] for name in ("task", "task_id", "reference")}


@GRAPHS
def test_a_new_letter_with_the_same_task_is_no_task(build):
    app = compiled(build(waits))
    assert "__interrupt__" in app.invoke(letter("of apples", reference="1"), CONFIG)
    result = app.invoke(letter("of pears", reference="2"), CONFIG)
    assert (result["task"], begun(result)["task"], begun(result)["reference"]) == (TASK, TASK, "2")


@GRAPHS
def test_the_same_reference_and_id_may_come_with_another_task(build):
    app, more = compiled(build(waits)), {"task_id": "p1", "reference": "<add two pears>"}
    assert "__interrupt__" in app.invoke({"task": "add two apples", **more}, CONFIG)
    result = app.invoke({"task": "add two pears", **more}, CONFIG)
    assert begun(result) == {"task": "add two pears", **more}
    assert result["verdict"]["status"] == "success"


@GRAPHS
def test_a_next_run_that_also_waits_is_resumed_with_what_it_brought(build):
    app = compiled(build(waits))
    for reference in ("1", "2"):
        asked = app.invoke(letter(f"of {reference} apples", reference=reference), CONFIG)["__interrupt__"]
    result = app.invoke(Command(resume={question.id: "2" for question in asked}), CONFIG)
    assert (begun(result)["task"], result["verdict"]["status"]) == (TASK, "success")


@OWN
def test_a_next_run_that_fails_goes_on_with_what_it_brought(build):
    failures = [1]

    def fails(state):
        if "pears" in str(state["messages"]) and failures:
            raise RuntimeError(failures.pop())
        return waits(state)

    app = compiled(build(fails))
    app.invoke(letter("of apples", reference="1"), CONFIG)
    with pytest.raises(RuntimeError):
        app.invoke(letter("of pears", reference="2"), CONFIG)
    assert (begun(result := app.invoke(None, CONFIG))["task"], begun(result)["reference"]) == (TASK, "2")


def test_the_loop_keeps_the_same_reference_if_it_breaks_off_before_the_first_step():
    app = compiled(loop(waits))
    app.invoke({"task": "add two apples", "reference": "<add two pears>"}, CONFIG)
    app.invoke({"task": "add two pears", "reference": "<add two pears>"}, CONFIG, interrupt_before=["retrieve"])
    assert app.invoke(None, CONFIG)["verdict"]["status"] == "success"


@OWN
def test_a_letter_on_a_fork_of_the_run_that_was_given_up_is_no_task(build):
    app = compiled(build(waits))
    app.invoke(letter("of apples"), CONFIG)
    asking = app.get_state(CONFIG).config
    app.invoke(letter("of plums"), CONFIG)
    assert begun(app.invoke(letter("of pears"), asking))["task"] == TASK


def test_a_graph_around_the_loop_that_was_given_up_after_it_tells_what_its_next_run_brings():
    builder = BUILDS["within"](solve)
    builder.add_node("send", lambda state: {"answer": interrupt("may I?")} if "apples" in state["task"] else {})
    app = compiled(builder.add_edge("loop", "send"))
    more = {"task_id": "p1", "reference": "<add two pears>"}
    assert "__interrupt__" in app.invoke({"task": "add two apples", **more}, CONFIG)
    assert begun(app.invoke({"task": "add two pears", **more}, CONFIG)) == {"task": "add two pears", **more}
    assert "__interrupt__" in app.invoke({"task": "add four apples", **more}, CONFIG)
    assert begun(app.invoke({"task": "add two plums"}, CONFIG))["reference"] is None


class OwnTask(MessagesState):
    task: str
    answer: str


class Chat(MessagesState, ReasoningBankState):
    pass


@pytest.mark.parametrize("schema", [OwnTask, Chat])
@pytest.mark.parametrize("waiting", [True, False])
def test_in_a_run_that_goes_round_what_the_person_says_next_is_the_task(schema, waiting):
    tasks, words = [], ["add two pears", "add two plums"]

    def listen(state):
        return said(interrupt("what next?") if waiting else words.pop(0))

    builder = StateGraph(schema)
    builder.add_sequence([("retrieve", create_retrieve()), ("solve", solve), ("listen", listen)])
    builder.add_edge(START, "retrieve")
    builder.add_conditional_edges(
        "listen", lambda state: tasks.append(state["task"]) or ("retrieve" if len(tasks) < 3 else "__end__")
    )
    app = compiled(builder)
    words.extend(["bye"] if not waiting else [])
    app.invoke(said("add two apples"), CONFIG)
    for text in [*words, "bye"] if waiting else []:
        app.invoke(Command(resume=text), CONFIG)
    assert tasks == ["add two apples", "add two pears", "add two plums"]


def test_so_it_is_if_the_run_before_was_given_up_at_the_same_task():
    tasks, words = [], ["add two pears", "bye"]
    builder = StateGraph(Chat)
    builder.add_sequence(
        [("retrieve", create_retrieve()), ("solve", waits), ("listen", lambda _: said(words.pop(0)))]
    ).add_edge(START, "retrieve")
    builder.add_conditional_edges(
        "listen", lambda state: tasks.append(state["task"]) or ("retrieve" if words else "__end__")
    )
    app = compiled(builder)
    assert "__interrupt__" in app.invoke(letter("of apples"), CONFIG)
    app.invoke(letter("of plums"), CONFIG)
    assert tasks == [TASK, "add two pears"]


def test_none_takes_out_a_reference_that_a_graph_around_the_loop_still_has():
    app = compiled(BUILDS["within"](waits))
    app.invoke({"task": "add two apples", "reference": "<add two pears>"}, CONFIG)
    result = app.invoke({"task": "add two pears", "reference": None}, CONFIG)
    assert (begun(result)["reference"], result["verdict"]["reason"]) == (None, "no_evidence")


@GRAPHS
def test_a_reference_that_is_a_number_ends_with_its_run_too(build):
    app = compiled(build())
    assert begun(app.invoke({"task": "add two apples", "reference": 4}, CONFIG))["reference"] == "4"
    assert begun(app.invoke({"task": "add two pears"}, CONFIG))["reference"] is None


class Json(JsonPlusSerializer):
    """Writes what is JSON as JSON."""

    def dumps_typed(self, obj):
        try:
            return "json", json.dumps(obj).encode()
        except TypeError:
            return super().dumps_typed(obj)

    def loads_typed(self, data):
        return json.loads(data[1]) if data[0] == "json" else super().loads_typed(data)


class Pickle:
    def dumps_typed(self, obj):
        return "pickle", pickle.dumps(obj)

    def loads_typed(self, data):
        return pickle.loads(data[1])


@pytest.mark.parametrize("kind", [Found, Earlier, Given])
@pytest.mark.parametrize("serde", [JsonPlusSerializer(), Json(), Pickle()])
def test_what_says_where_a_text_is_from_is_stored_as_plain_text(kind, serde):
    assert type(serde.loads_typed(serde.dumps_typed([kind("x")]))[0]) is str


@contextmanager
def sqlite(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        yield saver


@pytest.mark.parametrize("serde", [JsonPlusSerializer(allowed_msgpack_modules=None), Json(), Pickle(), "sqlite"])
@pytest.mark.parametrize("build", [own_graph, BUILDS["within"]], ids=["own graph", "within"])
def test_whatever_stores_the_checkpoints_tells_the_same(build, serde, tmp_path):
    builder = build(waits)
    with sqlite(tmp_path) as file:
        saver = file if serde == "sqlite" else InMemorySaver(serde=serde)
        app = builder.compile(checkpointer=saver, store=indexed_memory())
        for reference in ("1", "2"):
            asked = app.invoke(letter(f"of {reference} apples", reference=reference), CONFIG)["__interrupt__"]
        assert begun(app.invoke(Command(resume={one.id: "2" for one in asked}), CONFIG))["reference"] == "2"
        assert begun(app.invoke({"task": "add two pears"}, CONFIG))["reference"] is None
        assert begun(app.invoke({"messages": [HumanMessage("add two plums")]}, CONFIG))["task"] == "add two plums"
