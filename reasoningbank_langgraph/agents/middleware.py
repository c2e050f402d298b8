"""Memory for LangChain's `create_agent`: lessons before each turn, learning after it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import AgentMiddleware, ExtendedModelResponse, ModelRequest, ModelResponse
from langgraph.graph import START, StateGraph
from langgraph.types import Command, StreamMode

from reasoningbank_langgraph.agents.checks import Check, RiskyCall, check_risky
from reasoningbank_langgraph.agents.placing import Placement, check_placement, placed
from reasoningbank_langgraph.agents.state_verdicts import StateCheck, StateJudge
from reasoningbank_langgraph.agents.tool_results import ToolCheck, ToolResultJudge
from reasoningbank_langgraph.agents.turns import LEARNING_NAMES, NAMES, Turns, has_begun, view
from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.chat.tracing import run_name
from reasoningbank_langgraph.errors import InvalidTaskError
from reasoningbank_langgraph.judges import EnsembleJudge, JudgeLike, LLMJudge
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE, check_template
from reasoningbank_langgraph.nodes._defer import Learn, check_learn
from reasoningbank_langgraph.nodes._loop import LoopNodes, check_guard
from reasoningbank_langgraph.state import LoopState, loop_state

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

    from reasoningbank_langgraph.bank import Show, Where
    from reasoningbank_langgraph.extraction.metadata import Metadata
    from reasoningbank_langgraph.nodes._base import MemoryNode, Update
    from reasoningbank_langgraph.policies import Guard, PolicyLike
    from reasoningbank_langgraph.records import RetrievedMemory

logger = logging.getLogger(__name__)

Response = ModelResponse[Any]
Answered = Response | ExtendedModelResponse[Any]
_TIME_LIMIT = 120.0
_MODES: list[StreamMode] = ["custom", "values"]
"""What is wanted of the learning graph: its events and its state, which comes last."""


class ReasoningBankMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives an agent of LangChain's `create_agent` a memory.

    Before a turn, lessons for the user's newest message are looked up. The model sees them in its requests, and they
    never enter `messages`. After the turn, what the agent did in it, with its tool calls and their errors, is judged,
    and lessons are distilled and written: exactly once, whatever is retried, resumed or replayed. Nothing of this is
    streamed as a message. A turn without a text of the user, and one that ends with an error, teaches nothing.

    The agent needs a store, `create_agent(..., store=...)`, and to keep its conversation a checkpointer. Several of
    these can serve one agent if their namespaces differ.

    Example:
        ```python
        from langchain.agents import create_agent
        memory = ReasoningBankMiddleware(model=chat, namespace=("math", "{user_id}"))
        agent = create_agent(chat, middleware=[memory], store=ChromaStore.from_path("./bank"))
        ```

    Args:
        model: judges and distils, unless one of the other two models replaces it.
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context.
        judge: any judge, or a function from `Attempt` to `Verdict`, in place of `LLMJudge`.
        learn: whether to learn, and when. True: before the agent returns. False: not at all. `"deferred"`: the attempt
            waits for `MemoryBank.resolve`, with the id that `MemoryBank.pending` tells; no model is needed for that.
            `"background"`: a worker of this process judges and distils after the agent has returned (`learn.drain`).
        use: False shows the model nothing, and only learns.
        show: what is shown: `lessons`, `examples` or `both`.
        guard: has some turns answered without memory and switches it off where it hurts: see `Guard`.
        placement: where lessons stand in a request: `trailing`, in a message of the user after the conversation, or
            `system`. Lessons in the system message have more weight than text of unknown origin should have.
        verdict_from: judges by facts, before `judge`. By the results of tools: for each tool by its name, a function
            from the text of a result to True, False or None (no opinion), as in `{"run_tests": lambda text: "failed"
            not in text}`. The results of the last step that called the tool count. Or by the agent's state at the end
            of the turn: a function from it to the same, such as `agents.rubric_verdict`.
        check_before: shows failures of the past before a risky call: for each tool by its name, a function from the
            call's arguments to what it does, in words, as in `{"deploy": lambda call: f"deploy to {call['place']}"}`.
            If such failures are known, the model is asked again, and only its second decision counts. Where the
            function fails, as at arguments that the model left out, the call itself is what is looked up.
        judge_model: model of the judge.
        extract_model: model that distils lessons.
        k: number of experiences to retrieve.
        max_items: largest number of lessons to show.
        min_score: lowest similarity of a lesson, 0..1; `check_before` shows failures whatever theirs is.
        policy: what becomes of lessons the bank has already: `append`, `skip`, `link`, or a `Policy`.
        metadata: `tags`, `scope` and `difficulty` of new lessons, as a mapping or a function from a lesson to one.
        where: only lessons with these `tags`, this `scope` and `difficulty` are shown, as in `{"tags": "algebra"}`.
        levels: where no lesson is similar, general ones come first: see `MemoryBank.search`.

    Raises:
        MissingModelError: `learn` is on and there is no model that judges or distils.
        ValueError: `learn` is off beside a guard; `use` is off beside what shows something; both are off;
            `verdict_from` is given where nothing is judged; or a value is none of those that are named.
        TypeError: an argument is not what it has to be.
        NamespaceError: stores refuse a label of the namespace (raised here), or a label has no value (raised in a run).
        MissingStoreError: in a run, the agent has no store.
    """

    _next: MemoryNode | None

    def __init__(
        self,
        *,
        model: ModelLike | None = None,
        namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
        judge: JudgeLike | None = None,
        learn: Learn = True,
        use: bool = True,
        show: Show = "lessons",
        guard: Guard | None = None,
        placement: Placement = "trailing",
        verdict_from: Mapping[str, ToolCheck] | StateCheck | None = None,
        check_before: Mapping[str, RiskyCall] | None = None,
        judge_model: ModelLike | None = None,
        extract_model: ModelLike | None = None,
        k: int = 1,
        max_items: int = 3,
        min_score: float | None = None,
        policy: PolicyLike = "append",
        metadata: Metadata | None = None,
        where: Where | None = None,
        levels: bool = False,
    ) -> None:
        super().__init__()
        _check_purpose(check_learn(learn), use=use, shows=guard or check_before or where or levels, tools=verdict_from)
        self._template, self._placement = check_template(namespace), check_placement(placement)
        self._risky, self._where = check_risky(check_before or {}), where
        self._turns = Turns(f"{self.name} shows", StateJudge(verdict_from) if callable(verdict_from) else None)
        self.state_schema = self._turns.schema
        nodes = LoopNodes(
            maker=type(self).__name__,
            model=model,
            judged_by=_judge(judge, verdict_from, judge_model or model),
            judge_model=judge_model,
            extract_model=extract_model,
            namespace=namespace,
            k=k,
            max_items=max_items,
            min_score=min_score,
            guard=check_guard(guard, learn=learn),
            time_limit=_TIME_LIMIT,
            show=show,
            names=NAMES,
            policy=policy,
            metadata=metadata,
            where=where,
            levels=levels,
        )
        self._first, self._next = (nodes.retrieve(), nodes.retrieve(begins=False)) if use else (nodes.begin(), None)
        self._learning = _learning(replace(nodes, names=LEARNING_NAMES), learn) if learn else None

    @property
    def name(self) -> str:
        """The middleware's name in the agent's graph: two of one agent are told apart by their banks."""
        labels = "/".join(self._template).replace("|", "_").replace(":", "_")
        return f"{type(self).__name__}({labels})"

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> Update | None:
        """Look up lessons for the user's newest message."""
        known = view(state)
        node = self._node(known)
        try:
            return self._turns.found(node.invoke(known) if node else {})
        except InvalidTaskError as error:
            return self._without_task(error)

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> Update | None:
        """Async form of `before_agent`."""
        known = view(state)
        node = self._node(known)
        try:
            return self._turns.found(await node.ainvoke(known) if node else {})
        except InvalidTaskError as error:
            return self._without_task(error)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Response]) -> Answered:
        """Show the lessons in a request to the model, and failures before a risky call."""
        shown = self._turns.shown(request.state) or {}
        request = self._with_lessons(request, shown)
        response = handler(request)
        check = self._check(request, response, shown)
        if check is None or not (failures := check.failures(shown.get("memories", ()))):
            return response
        return self._decided(handler(check.again(failures)), shown, failures)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Response]]
    ) -> Answered:
        """Async form of `wrap_model_call`."""
        shown = self._turns.shown(request.state) or {}
        request = self._with_lessons(request, shown)
        response = await handler(request)
        check = self._check(request, response, shown)
        if check is None or not (failures := await check.afailures(shown.get("memories", ()))):
            return response
        return self._decided(await handler(check.again(failures)), shown, failures)

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> Update | None:
        """Judge the turn, distil lessons and write them."""
        turn = self._turns.turn(state) if self._learning else None
        if self._learning is None or turn is None:
            return None
        steps = self._learning.stream(turn, stream_mode=_MODES)
        return self._turns.learned(state, [_passed_on(step, runtime) for step in steps][-1])

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> Update | None:
        """Async form of `after_agent`."""
        turn = self._turns.turn(state) if self._learning else None
        if self._learning is None or turn is None:
            return None
        steps = self._learning.astream(turn, stream_mode=_MODES)
        return self._turns.learned(state, [_passed_on(step, runtime) async for step in steps][-1])

    def _node(self, state: Mapping[str, Any]) -> MemoryNode | None:
        """Return the node that begins the attempt, or the one that goes on with it."""
        return self._next if has_begun(state) else self._first

    def _without_task(self, error: InvalidTaskError) -> Update:
        logger.warning("the agent goes on without memory in this turn: %s", error)
        return {self._turns.channel: None, "memory_error": str(error)}

    def _with_lessons(self, request: ModelRequest[Any], shown: Mapping[str, Any]) -> ModelRequest[Any]:
        state: Mapping[str, Any] = request.state
        return placed(request, shown, state["attempt"]["start_id"], self._placement) if shown else request

    def _check(self, request: ModelRequest[Any], response: Response, shown: Mapping[str, Any]) -> Check | None:
        if not shown or (shown.get("trial") or {}).get("withheld"):
            return None
        return Check.before(self._risky, request, response, self._template, self._where)

    def _decided(
        self, response: Response, shown: Mapping[str, Any], failures: Sequence[RetrievedMemory]
    ) -> ExtendedModelResponse[Any]:
        memories = [*shown.get("memories", ()), *(failure.to_json() for failure in failures)]
        return ExtendedModelResponse(response, Command(update={self._turns.channel: {**shown, "memories": memories}}))


def _judge(
    judge: JudgeLike | None, verdict_from: Mapping[str, ToolCheck] | StateCheck | None, critic: ModelLike | None
) -> JudgeLike | None:
    """Return the judge that asks the results of tools first, if any are named."""
    if not verdict_from or callable(verdict_from):
        return judge
    opinion = judge or (LLMJudge(chat_model(critic), time_limit=_TIME_LIMIT) if critic else None)
    return EnsembleJudge([ToolResultJudge(verdict_from), *([opinion] if opinion else [])])


def _learning(nodes: LoopNodes, learn: Learn) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph that learns from a turn: its steps are checkpointed one by one, as those of the loop are."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(loop_state(LoopState, nodes.names, None))
    steps = nodes.learning(learn)
    builder.add_sequence(steps)
    builder.add_edge(START, steps[0][0])
    return builder.compile(name=run_name("learn"))


def _passed_on(step: Any, runtime: Runtime[Any]) -> Any:
    """Return the state that a step of learning led to; an event is told to those who listen to the agent."""
    mode, part = step
    if mode == "custom":
        runtime.stream_writer(part)
    return part


def _check_purpose(learn: Learn, *, use: bool, shows: object, tools: object) -> None:
    """Raise `ValueError` if the middleware has nothing to do, or has something that it is asked not to use."""
    if not (learn or use):
        raise ValueError("with learn=False and use=False there is nothing to do: leave the middleware out")
    if shows and not use:
        raise ValueError(
            "use=False shows the model nothing: leave out guard, check_before, where and levels, or set use=True"
        )
    if tools and learn not in (True, "background"):
        raise ValueError(f"learn={learn!r} judges nothing: leave out verdict_from, or set learn=True or 'background'")
