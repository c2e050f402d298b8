"""Memory for agents that are built elsewhere: a middleware, a tool with which an agent asks, a function that remembers.

The middleware needs LangChain (the extra `agents`) and is imported when it is first used.

- `middleware`: memory for LangChain's `create_agent`: lessons before each turn, learning after it
- `turns`: what the middleware keeps in an agent's state, and the turn it learns from
- `placing`: where in a request to the model lessons and examples stand
- `checks`: failures of the past, shown to the model before a call that may do harm
- `state_verdicts`: a verdict from an agent's state at the end of a turn, such as the status of a rubric
- `tool_results`: a verdict from what a tool said, for example the tool that runs the tests
- `recall`: a tool with which an agent looks for lessons itself
- `functional`: a function that remembers, inside LangGraph's functional API and outside any graph
"""

from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.agents.functional import remembering
from reasoningbank_langgraph.agents.recall import create_recall_tool
from reasoningbank_langgraph.agents.state_verdicts import rubric_verdict

if TYPE_CHECKING:
    from reasoningbank_langgraph.agents.middleware import ReasoningBankMiddleware

__all__ = ["ReasoningBankMiddleware", "create_recall_tool", "remembering", "rubric_verdict"]


def __getattr__(name: str) -> Any:
    if name != "ReasoningBankMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reasoningbank_langgraph.errors import MissingDependencyError

    try:
        from reasoningbank_langgraph.agents.middleware import ReasoningBankMiddleware
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "langchain":
            raise
        raise MissingDependencyError("langchain", "agents") from error
    return ReasoningBankMiddleware


def __dir__() -> list[str]:
    return __all__
