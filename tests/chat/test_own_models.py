"""The chat model a user gives is the one that is called, in whatever form it comes."""

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import ConfigurableField
from pydantic import PrivateAttr

from reasoningbank_langgraph import Attempt, LLMJudge, SelfConsistencyJudge, create_reasoning_bank
from reasoningbank_langgraph.chat.models import chat_model
from reasoningbank_langgraph.chat.token_caps import capped
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, learner, lessons, solver, verdict

ATTEMPT = Attempt(task="2 + 2", messages=[("ai", "2 + 2 = 4")], answer="4")
REPLIES = [verdict(), lessons("check the units")]


def learned(model):
    result = create_reasoning_bank(solver, model=model).compile(store=indexed_memory()).invoke({"task": "one"})
    return [lesson["title"] for lesson in result["lessons"]]


class Counting(FakeListChatModel):
    """Keeps count in a field and in a private attribute, and its class has a cap of its own."""

    max_tokens: int | None = None
    done: int = 0
    caps: list = []
    _seen: int = PrivateAttr(default=0)

    def _call(self, *args, **options):
        self.done += 1
        self._seen += 1
        self.caps.append(self.max_tokens)
        return super()._call(*args, **options)


def test_what_a_model_counts_goes_on_from_call_to_call():
    model = FakeListChatModel(responses=[*REPLIES, "unused"])
    assert (learned(model), model.i) == (["check the units"], 2)
    assert learned(GenericFakeChatModel(messages=iter(map(AIMessage, REPLIES)))) == ["check the units"]


def test_so_it_does_where_a_cap_is_a_field_of_its_class_which_stays_as_it_was():
    model = Counting(responses=[*REPLIES, "unused"], caps=[])
    assert learned(model) == ["check the units"]
    assert (model.i, model.done, model._seen, model.max_tokens) == (2, 2, 2, None)
    assert model.caps == [400, 700]


async def test_samples_are_of_the_same_model_too():
    model = Counting(responses=["\\boxed{4}", "4", "so 4", "unused"], caps=[])
    judge = SelfConsistencyJudge(model, n=3)
    assert (await judge.ainvoke(ATTEMPT)).status == "success"
    assert (model.done, model.caps) == (3, [700] * 3)


def test_a_copy_of_a_capped_model_is_capped():
    model = capped(Counting(responses=["x"], caps=[]), 7)
    copied = model.model_copy(update={"responses": ["y"]})
    assert (copied.max_tokens, copied.invoke("?").text, type(copied).__name__) == (7, "y", "Counting")
    assert isinstance(model, Counting)


def test_settings_bound_to_a_model_become_its_own():
    from langchain_openai import ChatOpenAI

    openai = ChatOpenAI(model="m", base_url="http://localhost:1/v1", api_key="x")
    made = chat_model(openai.bind(temperature=0, model="other").with_config(tags=["mine"]).bind(max_tokens=5))
    assert (made.temperature, made.model_name, made.max_tokens, made.tags) == (0, "other", 5, ["mine"])
    assert (openai.temperature, openai.model_name, openai.max_tokens, openai.tags) == (None, "m", None, None)
    assert learned(learner().bind(delay=0.0)) == ["check the units", "draw a picture"]


@pytest.mark.parametrize(
    "model",
    [
        learner().with_retry(),
        learner().with_fallbacks([learner()]),
        learner().configurable_fields(delay=ConfigurableField(id="delay")),
        learner() | (lambda message: message),
        learner().bind(tools=[]),
        7,
        ScriptedChatModel,
    ],
    ids=["retry", "fallbacks", "configurable", "chain", "tools", "number", "class"],
)
def test_what_is_no_chat_model_is_refused_when_the_graph_is_built(model):
    with pytest.raises(TypeError, match=r"chat model|pass it unbound"):
        create_reasoning_bank(solver, model=model)
    with pytest.raises(TypeError, match=r"chat model|pass it unbound"):
        LLMJudge(model)


def test_a_judge_takes_the_name_of_a_model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert LLMJudge("openai:gpt-4.1-mini").caller.model_name == "gpt-4.1-mini"
    assert SelfConsistencyJudge("openai:gpt-4.1-mini").model.model_name == "gpt-4.1-mini"


def test_a_models_rate_limiter_holds_for_our_calls():
    waited = []

    class Limiter(InMemoryRateLimiter):
        def acquire(self, *, blocking=True):
            waited.append(blocking)
            return True

    model = learner()
    model.rate_limiter = Limiter()
    assert learned(model)
    assert len(waited) == 2
