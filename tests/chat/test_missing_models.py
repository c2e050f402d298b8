"""A model that is not there is named in the package's own errors, whichever door was used, with the way out."""

import pytest
from pydantic import BaseModel, Field, ValidationError

from reasoningbank_langgraph import ReasoningBankMiddleware, create_matts, create_reasoning_bank
from reasoningbank_langgraph.chat.models import chat_model
from reasoningbank_langgraph.errors import MissingModelError, ModelUnavailableError
from reasoningbank_langgraph.math_solver import create_math_solver
from reasoningbank_langgraph.testing import ScriptedChatModel

DOORS = [
    lambda **models: create_reasoning_bank(lambda state: {}, namespace=("math",), **models),
    lambda **models: create_matts(lambda state: {}, namespace=("math",), **models),
    lambda **models: ReasoningBankMiddleware(namespace=("math",), **models),
]
NAMES = ["create_reasoning_bank", "create_matts", "ReasoningBankMiddleware"]


@pytest.fixture(autouse=True)
def _without_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


class NoKeyError(Exception):
    """What a provider raises that knows nothing of other errors."""


class Settings(BaseModel):
    temperature: float = Field(le=2)


def refused():
    with pytest.raises(ValidationError) as caught:
        Settings(temperature=3)
    return caught.value


@pytest.mark.parametrize("door", [*DOORS, create_math_solver], ids=[*NAMES, "math_solver"])
@pytest.mark.parametrize("name", ["gpt-4.1-mini", "openai:gpt-4.1-mini"])
def test_without_a_key_every_door_says_which_variable_is_not_set(door, name):
    with pytest.raises(
        ModelUnavailableError, match=r"gpt-4\.1-mini' cannot be used: .*OPENAI_API_KEY.*OPENAI_BASE_URL"
    ):
        door(model=name)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NoKeyError("set GROQ_API_KEY\nand more"), r"cannot be used: set GROQ_API_KEY$"),
        (ImportError("pip install langchain-groq"), r"cannot be used: pip install langchain-groq$"),
        (
            ValueError("no such provider"),
            r"no such provider \(for a server.*write 'openai:groq:llama'.*'PROVIDER:NAME'",
        ),
        (refused(), r"cannot be used: Input should be less than or equal to 2$"),
    ],
    ids=["a key", "a package", "a provider", "a setting"],
)
def test_what_a_provider_raises_is_told_and_kept_as_the_cause(monkeypatch, error, said):
    def refuse(name):
        raise error

    monkeypatch.setattr("langchain.chat_models.init_chat_model", refuse)
    with pytest.raises(ModelUnavailableError, match=said) as caught:
        chat_model("groq:llama")
    assert caught.value.__cause__ is error


def test_a_key_of_another_provider_is_named_by_that_provider():
    with pytest.raises(ModelUnavailableError, match="AZURE_OPENAI_API_KEY") as caught:
        chat_model("azure_openai:gpt-4.1-mini")
    assert "PROVIDER:NAME" not in str(caught.value)


@pytest.mark.parametrize("name", ["", " ", "openai:"])
def test_a_name_without_a_name_is_refused(name):
    with pytest.raises(ModelUnavailableError, match="it names no model: write 'PROVIDER:NAME'"):
        chat_model(name)


@pytest.mark.parametrize(("door", "name"), list(zip(DOORS, NAMES, strict=True)), ids=NAMES)
def test_a_missing_model_is_asked_for_in_the_name_of_what_was_called(door, name):
    with pytest.raises(MissingModelError, match=rf"^{name} needs a model that judges: pass model=\.\.\., judge_model="):
        door()
    with pytest.raises(MissingModelError, match=rf"^{name} needs a model that distils: pass model=\.\.\. or extract_"):
        door(judge=lambda attempt: True)


def test_what_was_called_is_named_where_learning_is_in_the_background():
    with pytest.raises(MissingModelError, match=r"^create_reasoning_bank needs a model that judges"):
        DOORS[0](learn="background", extract_model=ScriptedChatModel([]))
