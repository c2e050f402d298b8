"""Which part of an agent's conversation is the attempt: one turn, with its tools, whatever else the agent does."""

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware, hook_config
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command, interrupt

from reasoningbank_langgraph import Guard, MemoryBank, ReasoningBankMiddleware, create_recall_tool
from reasoningbank_langgraph.testing import ScriptedChatModel, ScriptedToolModel
from tests.agents.agent_fakes import BANK, FENCE, agent, bank, bank_with, call, replies, say, thread, titles
from tests.loop_fakes import indexed_memory, learner


@tool
def measure(what: str) -> str:
    """Return the length of a thing."""
    if what == "nothing":
        raise ToolException("there is nothing to measure")
    return f"{what}: 3 m"


measure.handle_tool_error = True


class Judged:
    """A judge that keeps the attempts it is asked about."""

    def __init__(self):
        self.attempts = []

    def __call__(self, attempt):
        self.attempts.append(attempt)
        return True

    def told(self):
        return [[(message.role, message.text) for message in attempt.messages] for attempt in self.attempts]


def watched(**settings):
    judged = Judged()
    memory = ReasoningBankMiddleware(**{"model": learner(), "namespace": BANK, "judge": judged, **settings})
    return judged, memory


def test_each_turn_of_a_conversation_is_an_attempt_of_its_own():
    judged, memory = watched()
    app = agent(replies("3 m", "4 m"), store=bank_with(), memory=memory)
    app.invoke(say("How long is this table?"), thread())
    app.invoke(say("How long is that table?"), thread())
    assert judged.told() == [
        [("user", "How long is this table?"), ("assistant", "3 m")],
        [("user", "How long is that table?"), ("assistant", "4 m")],
    ]
    assert [attempt.task for attempt in judged.attempts] == ["How long is this table?", "How long is that table?"]


def test_tool_calls_their_results_and_their_errors_are_part_of_the_attempt():
    judged, memory = watched()
    both = AIMessage(
        "",
        tool_calls=[
            {"name": "measure", "args": {"what": "table"}, "id": "c1"},
            {"name": "measure", "args": {"what": "nothing"}, "id": "c2"},
        ],
    )
    app = agent(replies(both, "3 m"), store=bank_with(), memory=memory, tools=[measure])
    app.invoke(say("How long is this table?"), thread())
    (attempt,) = judged.attempts
    assert [(message.role, message.status) for message in attempt.messages] == [
        *[("user", None), ("assistant", None)],
        *[("tool", "success"), ("tool", "error"), ("assistant", None)],
    ]
    assert [entry["args"] for entry in attempt.messages[1].tool_calls] == [{"what": "table"}, {"what": "nothing"}]
    assert attempt.answer == "3 m"


@pytest.mark.parametrize(
    ("decision", "said"), [({"type": "approve"}, "table: 3 m"), ({"type": "reject", "message": "Do not."}, "Do not.")]
)
async def test_an_agent_that_waits_for_a_person_is_judged_once_when_it_is_done(decision, said):
    judged, memory = watched()
    model = replies(call("measure", what="table"), "3 m")
    store = bank_with()
    app = agent(
        model,
        store=store,
        memory=memory,
        tools=[measure],
        also=[HumanInTheLoopMiddleware(interrupt_on={"measure": True})],
    )
    paused = await app.ainvoke(say("How long is this table?"), thread())
    assert paused["__interrupt__"]
    assert judged.attempts == []
    assert titles(store) == ["check the units"]
    await app.ainvoke(Command(resume={"decisions": [decision]}), thread())
    (attempt,) = judged.attempts
    asked, _, result, answer = attempt.messages
    assert (asked.text, result.role, answer.text) == ("How long is this table?", "tool", "3 m")
    assert said in result.text
    assert [FENCE in request[-1].text for request in model.calls] == [True, True]
    assert len(bank(store).episodes()) == 1


def test_a_new_message_in_place_of_a_decision_begins_another_attempt():
    judged, memory = watched()
    app = agent(
        replies(call("measure", what="table"), "4 m"),
        store=bank_with(),
        memory=memory,
        tools=[measure],
        also=[HumanInTheLoopMiddleware(interrupt_on={"measure": True})],
    )
    app.invoke(say("How long is this table?"), thread())
    app.invoke(say("How long is that chair?"), thread())
    assert judged.told() == [[("user", "How long is that chair?"), ("assistant", "4 m")]]


def test_a_summary_of_earlier_turns_is_no_part_of_the_attempt():
    judged, memory = watched()
    summing = SummarizationMiddleware(
        ScriptedChatModel(lambda _: "They measured a table."), trigger=("messages", 3), keep=("messages", 1)
    )
    app = agent(replies("3 m", "4 m", "5 m"), store=bank_with(), memory=memory, also=[summing])
    for what in ("table", "chair", "bed"):
        result = app.invoke(say(f"How long is this {what}?"), thread())
    assert "They measured a table." in result["messages"][0].text
    assert judged.told()[1:] == [
        [("user", "How long is this chair?"), ("assistant", "4 m")],
        [("user", "How long is this bed?"), ("assistant", "5 m")],
    ]


def test_a_summary_in_place_of_the_turn_itself_leaves_one_attempt_with_its_task():
    judged, memory = watched()
    summing = SummarizationMiddleware(
        ScriptedChatModel(lambda _: "They measure a table."), trigger=("messages", 3), keep=("messages", 1)
    )
    script = [call("measure", name, what="table") for name in ("c1", "c2")]
    store, model = bank_with(), replies(*script, "3 m")
    app = agent(model, store=store, memory=memory, tools=[measure], also=[summing])
    app.invoke(say("How long is this table?"), thread())
    (attempt,) = judged.attempts
    assert (attempt.task, attempt.answer) == ("How long is this table?", "3 m")
    assert "They measure a table." in attempt.messages[0].text
    assert [FENCE in request[-1].text for request in model.calls] == [True, True, True]


def test_a_judge_that_asks_a_person_interrupts_the_agent_and_goes_on_with_the_answer():
    store = bank_with()
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK, judge=lambda attempt: interrupt("Is it right?"))
    model = replies("3 m")
    app = agent(model, store=store, memory=memory)
    paused = app.invoke(say("How long is this table?"), thread())
    assert [one.value for one in paused["__interrupt__"]] == ["Is it right?"]
    app.invoke(Command(resume=False), thread())
    assert [episode.outcome for episode in bank(store).episodes()] == ["failure"]
    assert len(model.calls) == 1


def test_all_that_is_kept_between_steps_is_plain_data():
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK, show="both", guard=Guard(share=0.01))
    recall = call("recall_lessons", "c1", query="measure a length")
    app = create_agent(
        replies("3 m", recall, "4 m"),
        [create_recall_tool(namespace=BANK)],
        middleware=[memory],
        store=bank_with(),
        checkpointer=saver,
    )
    app.invoke(say("How long is this table?"), thread())
    app.invoke(say("How long is that table?"), thread())
    told = app.get_state(thread()).values["messages"][4].artifact["reasoningbank"]
    assert all(type(memory) is dict for memory in told)
    assert len(told) == 3


def test_an_agent_inside_a_tool_has_a_memory_of_its_own():
    store, inner_model = bank_with(), replies("3 m", "4 m")
    inner_memory = ReasoningBankMiddleware(model=learner(titles=("use a tape",)), namespace=("inner",))
    inner = agent(inner_model, store=store, memory=inner_memory, saver=False)

    @tool
    def ask(question: str) -> str:
        """Ask the one who measures."""
        return inner.invoke(say(question))["messages"][-1].text

    first, second = (
        call("ask", "c1", question="How long is the bed?"),
        call("ask", "c2", question="How long is the sofa?"),
    )
    judged, memory = watched()
    app = agent(replies(first, second, "7 m"), store=store, memory=memory, tools=[ask])
    app.invoke(say("How long are bed and sofa?"), thread())
    assert titles(store, ("inner",)) == ["use a tape", "use a tape"]
    assert [FENCE in request[-1].text for request in inner_model.calls] == [False, True]
    assert [attempt.answer for attempt in judged.attempts] == ["7 m"]
    assert {episode.task for episode in bank(store).episodes()} == {"How long are bed and sofa?"}


async def test_agents_that_work_side_by_side_inside_tools_each_learn_their_turn():
    store = bank_with()
    inner_memory = ReasoningBankMiddleware(model=learner(titles=("use a tape",)), namespace=("inner",))
    inner = agent(ScriptedToolModel(lambda _: "3 m"), store=store, memory=inner_memory, saver=False)

    @tool
    async def ask(question: str) -> str:
        """Ask the one who measures."""
        return (await inner.ainvoke(say(question)))["messages"][-1].text

    asked = [call("ask", f"c{n}", question=f"How long is thing {n}?").tool_calls[0] for n in range(4)]
    app = agent(replies(AIMessage("", tool_calls=asked), "12 m"), store=store, tools=[ask])
    await app.ainvoke(say("How long are four things?"), thread())
    episodes = MemoryBank(store, "inner").episodes()
    assert {episode.task for episode in episodes} == {f"How long is thing {n}?" for n in range(4)}
    assert len(titles(store, "inner")) == len(episodes) == 4


def test_two_memories_of_one_agent_show_and_learn_side_by_side():
    store = bank_with()
    team = MemoryBank(store, "team")
    team.add([bank(store).items()[0].model_copy(update={"id": "1" * 32, "title": "ask the team"})])
    own_judged, own = watched(namespace=("own", "{user_id}"), model=learner(titles=("own lesson",)))
    reading = ReasoningBankMiddleware(namespace="team", learn=False)
    model = replies("3 m", "4 m")
    app = agent(model, store=store, memory=own, also=[reading])
    app.invoke(say("How long is this table?"), thread(user_id="u1"))
    app.invoke(say("How long is that table?"), thread(user_id="u1"))
    assert [sum(FENCE in message.text for message in request) for request in model.calls] == [1, 2]
    assert "own lesson" in model.calls[1][-1].text + model.calls[1][-2].text
    assert "ask the team" in model.calls[1][-1].text + model.calls[1][-2].text
    assert titles(store, ("own", "u1")) == ["own lesson", "own lesson"]
    assert titles(store, "team") == ["ask the team"]
    assert [len(attempt.messages) for attempt in own_judged.attempts] == [2, 2]


def test_two_memories_that_learn_both_keep_what_was_learned_and_the_line_of_the_thread_is_one():
    store = indexed_memory()
    one, other = (ReasoningBankMiddleware(model=learner(titles=(name,)), namespace=name) for name in ("one", "other"))
    app = agent(replies("3 m", "4 m"), store=store, memory=one, also=[other])
    app.invoke(say("How long is this table?"), thread())
    app.invoke(say("How long is that table?"), thread())
    assert (titles(store, "one"), titles(store, "other")) == (["one", "one"], ["other", "other"])
    values = app.get_state(thread()).values
    assert len(values["written"]) == 4
    assert len(values["attempt"]["line"]) == 2


def test_two_memories_on_one_bank_are_refused():
    memories = [ReasoningBankMiddleware(model=learner(), namespace=BANK) for _ in range(2)]
    with pytest.raises(AssertionError, match="duplicate"):
        agent(replies(), store=bank_with(), memory=memories[0], also=memories[1:])


class Refusing(AgentMiddleware):
    @hook_config(can_jump_to=["end"])
    def before_agent(self, state, runtime):
        if "secret" in state["messages"][-1].text:
            return {"jump_to": "end", "messages": [AIMessage("No.")]}
        return None


def test_a_turn_that_another_middleware_ends_before_the_memory_begins_is_not_judged():
    judged, memory = watched()
    app = agent(replies("3 m"), store=bank_with(), memory=Refusing(), also=[memory])
    app.invoke(say("How long is this table?"), thread())
    app.invoke(say("What is the secret?"), thread())
    assert len(judged.attempts) == 1


def test_a_turn_that_fails_teaches_nothing_and_the_next_one_does():
    @tool
    def broken() -> str:
        """Break."""
        raise OSError("no disk")

    judged, memory = watched()
    app = agent(replies(call("broken"), "4 m"), store=bank_with(), memory=memory, tools=[broken])
    with pytest.raises(OSError, match="no disk"):
        app.invoke(say("How long is this table?"), thread())
    app.invoke(say("How long is that chair?"), thread())
    assert judged.told() == [[("user", "How long is that chair?"), ("assistant", "4 m")]]
