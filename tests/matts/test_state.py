"""What MaTTS leaves in the graph's state and what it streams: the selected rollout, as if it had been the only one."""

import operator
import threading
from typing import Annotated
from uuid import UUID

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import ConfigurableField, RunnableConfig, RunnableLambda
from langgraph.channels import DeltaChannel, EphemeralValue, Topic
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, MessagesState
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from reasoningbank_langgraph import create_matts
from tests.loop_fakes import Sampling, indexed_memory, learner
from tests.matts_fakes import CONFIG, TASK, bank, judged_by, matts

ASKED = {"task": "add two apples", "messages": [HumanMessage("add two apples", id="1")]}


def says(*answers):
    def solve(state, config: RunnableConfig):
        return {"messages": [AIMessage(answers[config["configurable"]["rollout"] % len(answers)])]}

    return solve


def test_the_selected_rollout_is_an_ordinary_update_of_the_conversation():
    graph = matts(says("4", "5", "4"), k=3)
    updates = [update["select"] for update in graph.stream(ASKED, CONFIG, stream_mode="updates") if "select" in update]
    assert [message.text for message in updates[0]["messages"]] == ["4"]
    history = graph.get_state(CONFIG).values["messages"]
    assert [message.text for message in history] == ["add two apples", "4"]


def test_only_the_selected_answer_is_streamed_as_a_message():
    streamed = list(matts(says("4", "5", "4"), k=3).stream(ASKED, CONFIG, stream_mode="messages"))
    assert [(message.text, facts["langgraph_node"]) for message, facts in streamed] == [("4", "select")]
    streamed = list(matts(says("4", "5"), k=2).stream(ASKED, CONFIG, stream_mode="messages", subgraphs=True))
    assert sorted(message.text for _, (message, _) in streamed) == ["4", "5"]


@pytest.mark.parametrize(
    ("rewrite", "left"),
    [
        (lambda old: [RemoveMessage(id=old[0].id), AIMessage("4")], ["add two apples", "4"]),
        (lambda old: [RemoveMessage(id=REMOVE_ALL_MESSAGES), AIMessage("4")], ["4"]),
        (lambda old: [RemoveMessage(id=one.id) for one in old] + [HumanMessage("in short"), AIMessage("4")], None),
        (
            lambda old: [RemoveMessage(id=REMOVE_ALL_MESSAGES), *old[::-1], AIMessage("4")],
            ["add two apples", "hi", "4"],
        ),
        (lambda old: [HumanMessage("hello", id=old[0].id), AIMessage("4")], ["hello", "add two apples", "4"]),
    ],
    ids=["shortened", "emptied", "summed up", "turned round", "edited"],
)
def test_a_conversation_that_the_solver_rewrites_is_followed(rewrite, left):
    start = {**TASK, "messages": [HumanMessage("hi", id="0"), HumanMessage("add two apples", id="1")]}
    result = matts(lambda state: {"messages": rewrite(state["messages"])}, k=2).invoke(start, CONFIG)
    assert [message.text for message in result["messages"]] == (left or ["in short", "4"])
    assert (result["answer"], [rollout["answer"] for rollout in result["rollouts"]]) == ("4", ["4", "4"])


def test_channels_of_every_kind_are_taken_over_or_refused_when_the_graph_is_built():
    class Own(TypedDict, total=False):
        notes: Annotated[list, DeltaChannel(lambda old, new: [*old, *(note for some in new for note in some)])]
        passing: Annotated[str, EphemeralValue]
        added: Annotated[list, operator.add]

    class Refused(TypedDict, total=False):
        topic: Annotated[list, Topic(str)]

    def solve(state, config: RunnableConfig):
        number = config["configurable"]["rollout"]
        told = [f"told {number}"]
        return {"answer": "4", "notes": told, "passing": "gone", "added": told}

    graph = matts(solve, k=2, state_schema=Own)
    for turn in (1, 2):
        result = graph.invoke(TASK, CONFIG)
        assert (result["notes"], result["added"]) == (["told 0"] * turn, ["told 0"] * turn)
        assert "passing" not in result
    with pytest.raises(ValueError, match="'topic' is a Topic"):
        create_matts(solve, model=learner(), state_schema=Refused)


def test_what_cannot_be_copied_is_shared_by_the_rollouts():
    class Own(TypedDict, total=False):
        client: object

    client = threading.Lock()
    result = matts(says("4"), saver=False, k=2, state_schema=Own).invoke({**ASKED, "client": client})
    assert (result["client"], len(result["rollouts"])) == (client, 2)


def test_a_solver_with_a_conversation_of_its_own_is_refused():
    inner = StateGraph(MessagesState)
    inner.add_node("say", lambda state: {"messages": [AIMessage("4")]})
    inner.add_edge(START, "say")
    with pytest.raises(ValueError, match="checkpointer=True"):
        create_matts(inner.compile(checkpointer=True), model=learner())


def test_a_model_with_configurable_fields_samples_as_told_and_else_as_set_up():
    model = Sampling(lambda _: "4", bound=[]).configurable_fields(temperature=ConfigurableField(id="temperature"))
    seen = []

    def solve(state, config: RunnableConfig):
        seen.append(model.with_config(config)._prepare(config)[0].temperature)
        return {"messages": [model.invoke(state["task"], config)]}

    matts(solve, k=3, max_concurrency=1, temperatures=[None, 0.9]).invoke(TASK, CONFIG)
    assert seen == [0.0, 0.9, 0.0]
    seen.clear()
    matts(solve, k=2, max_concurrency=1).invoke(TASK, {"configurable": {"thread_id": "t", "temperature": 0.3}})
    assert seen == [0.3, 0.7]


USED = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}


def test_tokens_of_a_solver_that_calls_no_langchain_model_are_read_from_its_messages():
    def solve(state):
        return {"messages": [AIMessage("4", usage_metadata=USED)]}

    told = []

    def check(attempt):
        told.append(attempt.usage)
        return judged_by("4")(attempt)

    result = matts(solve, k=5, judge=check, max_concurrency=1, stop_after=1).invoke(TASK, CONFIG)
    assert told == [USED]
    assert (result["rollouts"][0]["usage"], result["selection"]["tokens"]) == (USED, {"used": 105, "saved": 420})


def test_tokens_are_counted_once_and_those_before_an_interrupt_too():
    def look(state):
        return {"messages": [AIMessage("looked", usage_metadata=USED)]}

    inner = StateGraph(MessagesState)
    inner.add_node("look", look)
    inner.add_node("ask", lambda state: {"messages": [AIMessage(interrupt("?"), usage_metadata=USED)]})
    inner.add_edge(START, "look")
    inner.add_edge("look", "ask")
    graph = matts(inner.compile(), k=1, task="messages", judge=judged_by("4"))
    graph.invoke({"messages": ASKED["messages"]}, CONFIG)
    result = graph.invoke(Command(resume="4"), CONFIG)
    assert result["selection"]["tokens"]["used"] == 210

    class Billed(FakeListChatModel):
        def _generate(self, *args, **options):
            result = super()._generate(*args, **options)
            result.generations[0].message.usage_metadata = USED
            return result

    model = Billed(responses=["4"])
    solve = RunnableLambda(lambda state: {"messages": [model.invoke(state["task"])]})
    result = matts(solve, k=2, judge=judged_by("4")).invoke(TASK, {"configurable": {"thread_id": "u"}})
    assert result["selection"]["tokens"]["used"] == 210


@pytest.mark.parametrize("thread", [7, UUID(int=7)])
def test_a_thread_id_that_is_no_text_is_one_all_the_same(thread):
    store, config = indexed_memory(), {"configurable": {"thread_id": thread}}
    graph = matts(says("4"), store, InMemorySaver(), k=2)
    graph.invoke(ASKED, config)
    assert {item.provenance.thread_id for item in bank(store).items()} == {str(thread)}
    assert graph.invoke({"task": "add two pears"}, config)["memories"]
