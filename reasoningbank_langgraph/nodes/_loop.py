"""The nodes of a whole loop, made from the arguments that `create_reasoning_bank` and `create_matts` share."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.bank import EXAMPLE_FLOOR
from reasoningbank_langgraph.chat.models import ModelLike, chat_model, model_name_of
from reasoningbank_langgraph.chat.parameters import is_weak, parameters_of, writes_lessons
from reasoningbank_langgraph.errors import MissingModelError
from reasoningbank_langgraph.judges import LLMJudge
from reasoningbank_langgraph.nodes._background import Worker, create_hand_over, judge_in_thread
from reasoningbank_langgraph.nodes._base import MemoryNode
from reasoningbank_langgraph.nodes._defer import Learn, LeftBy, create_defer
from reasoningbank_langgraph.nodes._learner import Learner
from reasoningbank_langgraph.nodes.consolidate import create_consolidate
from reasoningbank_langgraph.nodes.extract import create_extract
from reasoningbank_langgraph.nodes.judge import create_judge
from reasoningbank_langgraph.nodes.retrieve import EVERYTHING, Heard, Lookup, create_begin, create_lookup
from reasoningbank_langgraph.policies import Guard
from reasoningbank_langgraph.state import ChannelNames

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

    from reasoningbank_langgraph.bank import Match, Show, Where
    from reasoningbank_langgraph.extraction.metadata import Metadata
    from reasoningbank_langgraph.judges import JudgeLike
    from reasoningbank_langgraph.policies import PolicyLike
    from reasoningbank_langgraph.records import Attempt


logger = logging.getLogger(__name__)


def check_guard(guard: Guard | None, *, learn: bool | str) -> Guard | None:
    """Return the guard of a loop.

    Raises:
        TypeError: it is none.
        ValueError: nothing would be judged, so that it would hold tasks out and learn nothing from them.
    """
    if guard is not None and not isinstance(guard, Guard):
        raise TypeError(f"guard must be a Guard, for example Guard(share=0.2), got {type(guard).__name__}")
    if guard is not None and not learn:
        raise ValueError("a guard counts what the judge says, and with learn=False nothing is judged: leave one out")
    return guard


@dataclass(frozen=True, kw_only=True)
class LoopNodes:
    """Makes the nodes of one loop; the arguments are those of `create_reasoning_bank`.

    Raises:
        MissingModelError: a node needs a model and none is given; raised by the method that makes the node.
    """

    maker: str
    """What the caller called, for errors."""
    model: ModelLike | None
    judged_by: JudgeLike | None
    judge_model: ModelLike | None
    extract_model: ModelLike | None
    namespace: str | Sequence[str]
    k: int
    max_items: int
    min_score: float | None
    match: Match = "both"
    guard: Guard | None
    time_limit: float
    show: Show
    names: ChannelNames
    episodes: bool = True
    min_example_score: float | None = EXAMPLE_FLOOR
    policy: PolicyLike = "append"
    metadata: Metadata | None = None
    where: Where | None = None
    levels: bool = False
    weak: bool | None = None

    def begin(self) -> MemoryNode:
        """Return the node that begins an attempt without looking for lessons."""
        return create_begin(self.names)

    def retrieve(self, heard: Heard = EVERYTHING, *, begins: bool = True, to_all: bool = True) -> MemoryNode:
        """Return the node that finds lessons for the task, and begins the attempt unless another node did."""
        shown = self.show, self.min_example_score, self.where, self.levels, self._solves_weakly()
        looking = Lookup(self.k, self.max_items, self.min_score, *shown, heard, to_all)
        return create_lookup(self.names, self.namespace, looking, self.guard, begins=begins)

    def _solves_weakly(self) -> bool:
        if self.weak is not None:
            return self.weak
        return self.model is not None and is_weak(chat_model(self.model))

    def judge(self) -> MemoryNode:
        """Return the node that judges the attempt."""
        model = self._critic() if self.judged_by is None else None
        return create_judge(model, judge=self.judged_by, time_limit=self.time_limit, **self.names._asdict())

    def extract(self) -> MemoryNode:
        """Return the node that distils lessons from one attempt."""
        return create_extract(self.distiller(), time_limit=self.time_limit, **self.names._asdict())

    def consolidate(self) -> MemoryNode:
        """Return the node that writes the lessons."""
        return create_consolidate(
            namespace=self.namespace,
            match=self.match,
            episodes=self.episodes,
            policy=self.policy,
            metadata=self.metadata,
        )

    def learning(self, learn: Learn = True, left_by: LeftBy | None = None) -> list[tuple[str, MemoryNode]]:
        """Return the nodes after the answer, in their order.

        Args:
            learn: when the graph learns: True, `deferred` or `background`.
            left_by: what a run leaves; by default the attempt that its state holds.
        """
        if learn is True:
            return [("judge", self.judge()), ("extract", self.extract()), ("consolidate", self.consolidate())]
        in_background = learn == "background"
        defer = create_defer(self.names, "model" if in_background else "verdict", left_by)
        nodes = [("defer", defer), ("consolidate", self.consolidate())]
        if in_background:
            nodes.append(("hand_over", create_hand_over(self._worker(), self.namespace, self.match, self.names)))
        return nodes

    def _worker(self) -> Worker:
        if self.judged_by is None:
            judge: Runnable[Attempt, Any] = LLMJudge(self._critic(), time_limit=self.time_limit)
        else:
            judge = judge_in_thread(self.judged_by)
        taken = {"policy": self.policy, "metadata": self.metadata}
        return Worker(Learner(judge, model=self.distiller(), time_limit=self.time_limit, **taken))

    def _critic(self) -> ModelLike:
        if self.critic_like is None:
            raise MissingModelError(self.maker, "judges", "model=..., judge_model=... or judge=..., or learn=False")
        return self.critic_like

    @property
    def critic_like(self) -> ModelLike | None:
        """The model that judges and compares, or None."""
        return self.judge_model or self.model

    def distiller(self) -> BaseChatModel:
        """Return the model that distils."""
        model = self.extract_model or self.model
        if model is None:
            raise MissingModelError(self.maker, "distils", "model=... or extract_model=..., or learn=False")
        chat = chat_model(model)
        if self.show == "lessons" and not writes_lessons(parameters_of(chat)):
            logger.warning(
                "%s is too small to write lessons, and show='lessons' shows nothing else: show='examples' shows tasks "
                "that it solved, and extract_model= takes a model that writes lessons for it",
                model_name_of(chat),
            )
        return chat
