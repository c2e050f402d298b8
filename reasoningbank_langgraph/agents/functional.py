"""A function that remembers, inside LangGraph's functional API and outside any graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, overload

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from reasoningbank_langgraph.chat.threads import is_sync
from reasoningbank_langgraph.graph import create_reasoning_bank

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

Solve = Callable[[str, str], str]
ASolve = Callable[[str, str], Awaitable[str]]


class _Reads(TypedDict):
    task: str
    memory_prompt: str


@overload
def remembering(solve: ASolve, *, store: BaseStore | None = ..., **settings: Any) -> Callable[..., Awaitable[str]]: ...


@overload
def remembering(solve: Solve, *, store: BaseStore | None = ..., **settings: Any) -> Callable[..., str]: ...


def remembering(solve: Solve | ASolve, *, store: BaseStore | None = None, **settings: Any) -> Callable[..., Any]:
    """Return a function that solves a task with lessons from earlier ones, and learns from what it did.

    It works anywhere: in a script or a notebook, and in an `@entrypoint`, whose store and checkpointer it uses. There a
    run that is resumed goes on with what it had judged and distilled.

    Example:
        ```python
        def answer(task: str, lessons: str) -> str:
            return chat.invoke(f"{lessons} {task}").text

        ask = remembering(answer, model=chat, store=ChromaStore.from_path("./bank"))
        ask("What is 2 + 3?")
        ```

    Args:
        solve: takes the task and the lessons for it, a text for the model that is empty if there are none, and returns
            the answer. An async function makes an async function.
        store: the store of the bank; by default that of the graph or entrypoint it is called in.
        settings: arguments of `create_reasoning_bank`, such as `model` and `namespace`. Labels in braces get their
            values in the call: `ask(task, {"configurable": {"user_id": "u1"}})`.

    Raises:
        ValueError: `create_reasoning_bank` refuses a setting.
        TypeError: likewise.
        NamespaceError: stores refuse a label of the namespace.
    """
    graph = create_reasoning_bank(_node(solve), **settings).compile(store=store)

    def ask(task: str, config: RunnableConfig | None = None) -> str:
        answer: str = graph.invoke({"task": task}, config)["answer"]
        return answer

    async def aask(task: str, config: RunnableConfig | None = None) -> str:
        answer: str = (await graph.ainvoke({"task": task}, config))["answer"]
        return answer

    return ask if is_sync(solve) else aask


def _node(solve: Solve | ASolve) -> Callable[[_Reads], Any]:
    def node(state: _Reads) -> dict[str, Any]:
        return {"answer": solve(state["task"], state["memory_prompt"])}

    async def anode(state: _Reads) -> dict[str, Any]:
        answer: Any = solve(state["task"], state["memory_prompt"])
        return {"answer": await answer}

    return node if is_sync(solve) else anode
