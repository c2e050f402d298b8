"""A conversation that is over is judged and learned from as if it had just been held."""

from itertools import pairwise

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt

from reasoningbank_langgraph import (
    MemoryBank,
    ReasoningBankState,
    ReferenceJudge,
    create_consolidate,
    create_extract,
    create_judge,
    create_retrieve,
)
from tests.loop_fakes import indexed_memory, learner

CONFIG = {"configurable": {"thread_id": "t"}}


class State(MessagesState, ReasoningBankState):
    pass


def learning(store, seen, schema=State, judge=None, **names):
    def grade(attempt):
        seen.append((attempt.task, attempt.answer, [message.text for message in attempt.messages]))
        return judge.invoke(attempt) if judge else True

    builder = StateGraph(schema)
    builder.add_sequence(
        [
            ("judge", create_judge(judge=grade, **names)),
            ("extract", create_extract(learner(titles=("one",)), **names)),
            ("consolidate", create_consolidate()),
        ]
    )
    builder.add_edge(START, "judge")
    return builder.compile(checkpointer=InMemorySaver(), store=store)


TALK = [
    HumanMessage("2 + 2?"),
    AIMessage("four"),
    HumanMessage("2 + 3?"),
    AIMessage("let me see"),
    AIMessage("\\boxed{5}"),
]


@pytest.mark.parametrize("schema", [State, MessagesState])
@pytest.mark.parametrize("ids", [True, False])
def test_the_last_turn_is_the_attempt_and_its_last_message_the_answer(schema, ids):
    seen, store = [], indexed_memory()
    talk = [message.model_copy(update={"id": str(place) if ids else None}) for place, message in enumerate(TALK)]
    learning(store, seen, schema, task="messages").invoke({"messages": talk}, CONFIG)
    assert seen == [("2 + 3?", "\\boxed{5}", ["2 + 3?", "let me see", "\\boxed{5}"])]
    assert [item.task for item in MemoryBank(store, "reasoningbank").items()] == ["2 + 3?"]


def test_it_is_compared_with_the_reference():
    graph = learning(indexed_memory(), [], judge=ReferenceJudge(), task="messages")
    result = graph.invoke({"messages": TALK, "reference": "5"}, CONFIG)
    assert (result["verdict"]["status"], len(result["written"])) == ("success", 1)


def test_where_nobody_asked_in_it_all_of_it_is_the_attempt():
    seen = []
    learning(indexed_memory(), seen).invoke({"task": "2 + 3?", "messages": [TALK[3], TALK[4]]}, CONFIG)
    assert seen == [("2 + 3?", "\\boxed{5}", ["let me see", "\\boxed{5}"])]


def test_an_answer_that_comes_with_it_is_the_answer():
    seen = []
    learning(indexed_memory(), seen, task="messages").invoke({"messages": TALK, "answer": "5"}, CONFIG)
    assert seen[0][1] == "5"


def test_turn_after_turn_of_one_thread_is_learned_from():
    seen, store = [], indexed_memory()
    graph = learning(store, seen, task="messages")
    graph.invoke({"messages": TALK[:2]}, CONFIG)
    graph.invoke({"messages": TALK[2:]}, CONFIG)
    assert [answer for _, answer, _ in seen] == ["four", "\\boxed{5}"]
    assert len(MemoryBank(store, "reasoningbank").items()) == 2


def test_a_run_that_waited_for_a_person_before_it_retrieved_keeps_its_task_and_reference():
    store = indexed_memory()
    builder = StateGraph(State)
    builder.add_node("read", lambda _: {"messages": [("system", interrupt("May I read it?"))]})
    builder.add_node("retrieve", create_retrieve(namespace="x"))
    builder.add_node("solve", lambda _: {"answer": "\\boxed{5}"})
    builder.add_node("judge", create_judge(judge=ReferenceJudge()))
    builder.add_node("extract", create_extract(learner()))
    builder.add_node("consolidate", create_consolidate(namespace="x"))
    builder.add_conditional_edges(START, lambda _: [Send("read", {})], ["read"])
    for edge in pairwise(("read", "retrieve", "solve", "judge", "extract", "consolidate")):
        builder.add_edge(*edge)
    app = builder.compile(checkpointer=InMemorySaver(), store=store)
    for task in ("What is 2 + 3?", "What is 1 + 4?"):
        app.invoke({"task": task, "reference": "5"}, CONFIG)
        said = app.invoke(Command(resume="yes"), CONFIG)
        assert (said["verdict"]["status"], said["attempt"]["task"]) == ("success", task)
    assert len(MemoryBank(store, "x").episodes()) == 2
