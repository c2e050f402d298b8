"""What an agent's user sees of a run: its messages and the events of its memory, no word of judge or extractor."""

import json

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from reasoningbank_langgraph import ReasoningBankMiddleware, create_recall_tool
from reasoningbank_langgraph.testing import ScriptedToolModel
from tests.agents.agent_fakes import BANK, agent, bank_with, call, replies, say, thread
from tests.agents.test_agent_turns import measure
from tests.loop_fakes import learner

ASKED = say("How long is this table?")


class Streaming(ScriptedToolModel):
    """Streams its replies word by word."""

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        message = self._generate(messages, stop, run_manager, **kwargs).generations[0].message
        for one in message.tool_calls:
            chunk = tool_call_chunk(name=one["name"], args=json.dumps(one["args"]), id=one["id"], index=0)
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[chunk]))
        for word in message.text.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(f"{word} "))


def app():
    model = Streaming([call("measure", what="table"), "It is 3 m long."])
    memory = ReasoningBankMiddleware(model=Streaming(learner().script), namespace=BANK)
    return agent(model, store=bank_with(), memory=memory, tools=[measure])


@pytest.mark.parametrize("subgraphs", [False, True])
async def test_the_streamed_messages_are_those_of_the_agent(subgraphs):
    options = {"stream_mode": "messages", "subgraphs": subgraphs}
    parts = list(app().stream(ASKED, thread(), **options))
    more = [part async for part in app().astream(ASKED, thread(), **options)]
    for seen in (parts, more):
        texts = [(part[1] if subgraphs else part)[0].text for part in seen]
        assert "".join(texts).strip() == "table: 3 mIt is 3 m long."
        assert len(texts) > 4


async def test_the_memory_tells_of_each_of_its_steps():
    events = [event async for event in app().astream(ASKED, thread(), stream_mode="custom")]
    assert [event["event"] for event in events] == ["retrieved", "judged", "extracted", "consolidated"]
    assert [event["count"] for event in events] == [1, 1, 2, 2]
    assert {event["type"] for event in events} == {"reasoningbank"}


def test_an_update_of_the_memory_holds_no_message():
    updates = [update for part in app().stream(ASKED, thread(), stream_mode="updates") for update in part.items()]
    own = [update for name, update in updates if name.startswith("ReasoningBankMiddleware")]
    assert len(own) == 2
    assert not any("messages" in update for update in own)


def test_a_tool_that_recalls_lessons_tells_of_it_too():
    model = replies(call("recall_lessons", query="measure a length"), "3 m")
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK, use=False)
    app = agent(model, store=bank_with(), memory=memory, tools=[create_recall_tool(namespace=BANK)])
    events = list(app.stream(ASKED, thread(), stream_mode="custom"))
    assert [event["event"] for event in events] == ["retrieved", "judged", "extracted", "consolidated"]
