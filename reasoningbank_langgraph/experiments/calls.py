"""The models of an experiment, and the calls behind a row: what they took, and what failed in them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langchain_core.callbacks import get_usage_metadata_callback
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from reasoningbank_langgraph.chat.refusals import kind_of_failure
from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.matts.records import rollouts_of
from reasoningbank_langgraph.records import FailureKind, Verdict

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from rich.console import Console

    from reasoningbank_langgraph.experiments.config import ExperimentConfig

Job = TypeVar("Job")
Result = TypeVar("Result")
Tuned = Callable[[str], "AbstractContextManager[BaseChatModel]"]
"""From the name of an adapter to the model that has it. Called when everything is there that is learned from."""

TIMES, WAIT = 3, wait_random_exponential(multiplier=0.5, max=8)
"""How often a row is begun whose model is out of reach, and the seconds between."""
_PASSING: set[FailureKind] = {"unreachable", "busy"}
"""Failures that a later call may not meet. A call that took too long is none of them: it would again."""


def _no_adapter(name: str) -> AbstractContextManager[BaseChatModel]:
    raise ExperimentError(f"there is no adapter {name!r}: `reasoningbank experiment self-improve` makes it")


class Models(NamedTuple):
    """What an experiment works with."""

    solver: BaseChatModel
    critic: BaseChatModel
    """Judges and distils."""
    embeddings: Embeddings
    at_once: int = 1
    """Problems to work on at the same time where the settings do not say."""
    tuned: Tuned = _no_adapter
    """Arms that name a solver are answered by what this gives."""


@contextmanager
def models_of(config: ExperimentConfig, embeddings: Embeddings, console: Console) -> Iterator[Models]:
    """Load the models that a configuration names, say which one solves, and end what was started for them.

    Raises:
        ModelError: a model cannot be used.
    """
    from reasoningbank_langgraph.local.model_choice import resolve_model

    with resolve_model(config.model, temperature=config.temperature) as solver:
        console.print(f"model: {solver.description}", highlight=False)
        at_once = solver.server.slots if solver.server else 1
        other = (
            resolve_model(config.judge_model, temperature=0) if config.judge_model is not None else nullcontext(solver)
        )
        with other as critic:
            yield Models(solver.chat, critic.chat, embeddings, at_once)


class FailedCallError(Exception):
    """A call failed inside a graph that went on without it; the text is the error's type and message."""

    def __init__(self, text: str, kind: FailureKind | None) -> None:
        self.kind = kind
        super().__init__(text)


@dataclass
class Usage:
    """What model calls took, and why they failed."""

    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    error: str | None = None


def measured(work: Callable[[], Result]) -> tuple[Result | None, Usage]:
    """Do what calls models, again where the model was out of reach; an exception becomes the error of the row.

    Args:
        work: does the same, or goes on, when it is called again.

    Returns:
        What it returned, None where it failed; and what all calls took.
    """
    usage, start, result = Usage(), time.perf_counter(), None
    passing = retry_if_exception(lambda failure: kind_of_failure(failure) in _PASSING)
    retrying = Retrying(retry=passing, wait=WAIT, stop=stop_after_attempt(TIMES), reraise=True)
    with get_usage_metadata_callback() as callback:
        try:
            result = retrying(work)
        except Exception as failure:  # noqa: BLE001 - noted in the row, and run again on resume
            usage.error = _text(failure)
    usage.seconds = round(time.perf_counter() - start, 3)
    for tokens in callback.usage_metadata.values():
        usage.tokens_in += tokens["input_tokens"]
        usage.tokens_out += tokens["output_tokens"]
    return result, usage


def side_by_side(work: Callable[[Job], None], jobs: Sequence[Job], at_once: int) -> None:
    """Do all jobs, so many at a time; what one raises is raised, and those that have not begun are left."""
    with ThreadPoolExecutor(at_once) as pool:
        try:
            for done in pool.map(work, jobs):
                assert done is None  # noqa: S101 - raises here what a worker raised
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def require_sound(state: Mapping[str, Any]) -> None:
    """Refuse the state of a loop in which a call failed: it went on, with less than the model would have given.

    Raises:
        FailedCallError: a rollout, a check, the judge, the extractor or the memory failed.
    """
    rollouts = rollouts_of(state)
    for rollout in rollouts:
        if failure := rollout.error or rollout.check_error:
            raise FailedCallError(f"{failure} (rollout {rollout.number})", failure.kind)
    verdicts = [rollout.verdict for rollout in rollouts]
    if state.get("verdict"):
        verdicts.append(Verdict(**state["verdict"]))
    for verdict in verdicts:
        if verdict is not None and verdict.reason == "error":
            raise FailedCallError(verdict.rationale, verdict.failure)
    extraction = state.get("extraction") or {}
    if extraction.get("reason") == "error":
        raise FailedCallError(f"ModelError: {extraction['raw']}", extraction.get("failure"))
    if state.get("memory_error"):
        raise FailedCallError(f"StoreError: {state['memory_error']}", "unreachable")


def _text(failure: Exception) -> str:
    said = str(failure)[:300]
    return said if isinstance(failure, FailedCallError) else f"{type(failure).__name__}: {said}"
