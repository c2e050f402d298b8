"""Threads of an agent with a memory, walked over later: what it has learned stays so, and the rest is learned."""

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from reasoningbank_langgraph import ReasoningBankMiddleware, create_recall_tool, learn_from_threads
from tests.agents.agent_fakes import BANK, bank, bank_with, call, replies, say, thread
from tests.agents.test_agent_turns import measure
from tests.loop_fakes import learner


class Length(BaseModel):
    metres: int


RECALL = call("recall_lessons", query="measure a length")


def walked(memory, store, *script, **settings):
    """What a walk over the thread of two turns of an agent does."""
    saver, tools = InMemorySaver(), [measure, create_recall_tool(namespace=BANK)]
    app = create_agent(replies(*script), tools, middleware=[memory], store=store, checkpointer=saver, **settings)
    app.invoke(say("How long is this table?"), thread())
    app.invoke(say("How long is that chair?"), thread())
    before = len(bank(store).episodes())
    coverage = learn_from_threads(app, model=learner(), checkpointer=saver, store=store, namespace=BANK)
    return before, coverage, bank(store).episodes()


def test_what_a_middleware_learned_is_not_learned_again():
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK)
    script = (call("measure", what="table"), "3 m", RECALL, "4 m")
    before, coverage, episodes = walked(memory, bank_with(), *script)
    assert (before, coverage.learned, len(episodes)) == (2, 0, 2)


def test_a_structured_answer_is_the_answer_of_the_walk_too():
    memory = ReasoningBankMiddleware(model=learner(), namespace=BANK)
    script = (call("Length", metres=3), call("Length", metres=4))
    before, coverage, episodes = walked(memory, bank_with(), *script, response_format=Length)
    assert (before, coverage.learned, len(episodes)) == (2, 0, 2)


def test_what_a_middleware_only_showed_counts_as_used_in_what_is_learned_later():
    store = bank_with()
    (lesson,) = bank(store).items()
    memory = ReasoningBankMiddleware(namespace=BANK, learn=False)
    before, coverage, episodes = walked(memory, store, "3 m", "4 m")
    assert (before, coverage.learned) == (0, 2)
    assert [episode.shown for episode in episodes] == [(lesson.id,), (lesson.id,)]
