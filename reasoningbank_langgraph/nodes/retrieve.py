"""First node of the loop: find lessons for the task and render them for the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.bank import (
    EXAMPLE_FLOOR,
    NOTHING,
    MemoryBank,
    Recalled,
    Show,
    Where,
    check_question,
    check_show,
    check_where,
    ids_of_branch,
    task_key_without_secrets,
)
from reasoningbank_langgraph.events import TYPE, RetrievedEvent, milliseconds_since
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE, check_template
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes._outage import is_outage, log_outage
from reasoningbank_langgraph.state import ChannelNames, Selector
from reasoningbank_langgraph.state.attempts import stale_channels, start_attempt, task_update
from reasoningbank_langgraph.text import example_messages, render_memories

if TYPE_CHECKING:
    from reasoningbank_langgraph.policies import Guard, GuardStatus, Trial


def create_retrieve(
    *,
    namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
    k: int = 1,
    max_items: int = 3,
    min_score: float | None = None,
    guard: Guard | None = None,
    show: Show = "lessons",
    min_example_score: float | None = EXAMPLE_FLOOR,
    where: Where | None = None,
    levels: bool = False,
    weak: bool = False,
    task: Selector = "task",
    answer: Selector = "answer",
    messages: Selector = "messages",
) -> MemoryNode:
    """Return a node that fills `memories` (records) and `memory_prompt` (text for the model) for the task.

    Lessons of the same task are never returned, nor lessons of another branch of the same thread. The model sees the
    lessons only if its prompt includes `memory_prompt`, best as a user message before the task. With examples, the node
    fills `memory_examples` (records) and `memory_messages` (messages of the user and the assistant, for before the
    task) with a success at the most similar other task; see `MemoryBank.search_examples`.

    If the store cannot be reached, the task is solved without lessons, and `memory_error` says why. A `retry_policy` on
    the node has nothing to retry: let the store's client retry its connection.

    Args:
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context.
        k: number of experiences to retrieve; one is best in the paper (section 4.5).
        max_items: largest number of lessons to show.
        min_score: lowest similarity of a lesson, 0..1; the event says what was left out for it.
        guard: has some tasks solved without memory, and memory switched off where it hurts. `create_consolidate`
            counts what comes of them.
        show: `lessons`, `examples` or `both`.
        min_example_score: lowest similarity of the task of an example, 0..1; None for no limit.
        where: only lessons with these `tags`, this `scope` and this `difficulty`, as in `{"tags": "algebra"}`.
            Examples are attempts and have none of these: they are not filtered.
        levels: where no lesson is similar, general ones come first: see `MemoryBank.search`.
        weak: whether the solver's model is weak. A weak model is not asked to say of each lesson whether it applies.
        task: channel that holds the task (text, or messages, where the user's last one counts), or a function from
            the state to it.
        answer: likewise for the answer.
        messages: likewise for the conversation.

    Raises:
        NamespaceError: stores refuse a label of the namespace (raised here), or a label has no value (raised in a run).
        InvalidTaskError: in a run, the task is empty, too long or not text.
        MissingStoreError: the graph runs without a store.
    """
    names, looking = (
        ChannelNames(task, answer, messages),
        Lookup(k, max_items, min_score, show, min_example_score, where, levels, weak),
    )
    return create_lookup(names, namespace, looking, guard, begins=True)


class Heard(NamedTuple):
    """What the solver can be shown."""

    lessons: bool
    examples: bool

    def of(self, found: Recalled) -> Recalled:
        """Return what of this it is shown: the rest was not used, so no lesson stems from it and no guard counts it."""
        return Recalled(
            found.memories if self.lessons else (),
            found.examples if self.examples else (),
            found.dropped if self.lessons else (),
        )


EVERYTHING = Heard(lessons=True, examples=True)


class Lookup(NamedTuple):
    """What is looked for in the bank, as in `create_retrieve`."""

    k: int
    max_items: int
    min_score: float | None
    show: Show
    min_example_score: float | None
    where: Where | None = None
    levels: bool = False
    weak: bool = False
    heard: Heard = EVERYTHING
    to_all: bool = True
    """Whether every attempt at the task is shown what is found; else its outcome says nothing of single lessons."""

    def check(self) -> None:
        """Raise `ValueError` where a bank cannot be asked for that."""
        check_question(self.k, self.max_items, self.min_score)
        check_question(1, 1, self.min_example_score)
        check_show(self.show)
        check_where(self.where)


def create_begin(names: ChannelNames) -> MemoryNode:
    """Return a node that begins an attempt as `create_retrieve` does, without looking anything up."""

    def begin(state: State, context: Context) -> Update:
        return {**_begin(state, context, names), **_channels(memory_channels(NOTHING), state), "memory_error": None}

    async def abegin(state: State, context: Context) -> Update:
        return begin(state, context)

    return MemoryNode("begin", begin, abegin, names, begins=True)


def create_lookup(
    names: ChannelNames, namespace: str | Sequence[str], looking: Lookup, guard: Guard | None, *, begins: bool
) -> MemoryNode:
    """Return the node of `create_retrieve`; with `begins=False`, for an attempt that another node began."""
    template = check_template(namespace)
    looking.check()
    asked = (looking.show, looking.min_example_score)

    def start(state: State, context: Context) -> _Search:
        begun = _begin(state, context, names) if begins else {}
        return _Search(state, context, MemoryBank(context.store, context.namespace(template)), looking, begun, guard)

    def retrieve(state: State, context: Context) -> Update:
        search = start(state, context)
        try:
            found = looking.heard.of(search.bank.recall(*asked, **search.question))
            return search.update(found, search.bank.guard(guard.model) if guard and found.shows_anything else None)
        except Exception as error:
            if not is_outage(error):
                raise
            return search.update(NOTHING, problem=log_outage("retrieve", error))

    async def aretrieve(state: State, context: Context) -> Update:
        search = start(state, context)
        try:
            found = looking.heard.of(await search.bank.arecall(*asked, **search.question))
            status = await search.bank.aguard(guard.model) if guard and found.shows_anything else None
            return search.update(found, status)
        except Exception as error:
            if not is_outage(error):
                raise
            return search.update(NOTHING, problem=log_outage("retrieve", error))

    return MemoryNode("retrieve", retrieve, aretrieve, names, begins=begins)


class _Search:
    """One search: the bank, the question, and the update of the state with what is found."""

    def __init__(
        self, state: State, context: Context, bank: MemoryBank, looking: Lookup, begun: Update, guard: Guard | None
    ) -> None:
        self.started, self.context, self.bank = time.perf_counter(), context, bank
        self.state, self.begun, self.guard, self.looking = state, begun, guard, looking
        attempt = (begun or state)["attempt"]
        self.question: dict[str, Any] = {
            "task": attempt["task"],
            "task_id": attempt["task_id"],
            "k": looking.k,
            "max_items": looking.max_items,
            "min_score": looking.min_score,
            "thread_id": context.thread_id,
            "written": ids_of_branch(state),
            "attempt": attempt,
            "where": looking.where,
            "levels": looking.levels,
        }

    def update(self, found: Recalled, status: GuardStatus | None = None, problem: str | None = None) -> Update:
        trial = self._trial(found, status)
        withheld = trial.withheld if trial else None
        shown = NOTHING if withheld else found
        event = retrieved_event(shown, self.started, self.bank, self.looking.min_score)
        if self.guard:
            event["withheld"] = withheld
        if self.looking.show != "lessons":
            event["examples"] = [example.episode.id for example in shown.examples]
            event["example_scores"] = [example.score for example in shown.examples]
        self.context.emit(event)
        drawn = {"trial": trial.to_json() if trial else None} if self.guard else {}
        channels = memory_channels(shown, weak=self.looking.weak)
        used = {"memory_usage": {"embed": event["usage"]}} if self.begun else self.context.used(embed=event["usage"])
        return {**self.begun, **_channels(channels, self.state), **drawn, **used, "memory_error": problem}

    def _trial(self, found: Recalled, status: GuardStatus | None) -> Trial | None:
        """Return how the guard wants the task to be solved, None without a guard or anything to show."""
        if self.guard is None or status is None:
            return None
        trial = self.guard.trial(task_key_without_secrets(self.question["task"]), status)
        ids = () if trial.withheld or not self.looking.to_all else tuple(memory.item.id for memory in found.memories)
        return trial.model_copy(update={"ids": ids})


def _begin(state: State, context: Context, names: ChannelNames) -> Update:
    """Return the update with which an attempt begins, and clear what an earlier task left."""
    attempt = start_attempt(state, names, context.began, newest=context.reads_newest)
    cleared: Update = {**stale_channels(state, names), "memory_usage": {}}
    return {**cleared, **task_update(state, names, attempt), "attempt": attempt}


def retrieved_event(found: Recalled, started: float, bank: MemoryBank, min_score: float | None) -> RetrievedEvent:
    """Return what a step tells of the lessons it found."""
    event = RetrievedEvent(
        type=TYPE,
        event="retrieved",
        ms=milliseconds_since(started),
        count=len(found.memories),
        ids=[memory.item.id for memory in found.memories],
        scores=[memory.score for memory in found.memories],
        namespace=list(bank.namespace),
        usage=bank.tally.of("embed"),
    )
    if min_score is not None:
        event["dropped"] = [lesson.id for lesson in found.dropped]
        event["dropped_scores"] = [lesson.score for lesson in found.dropped]
    return event


def memory_channels(found: Recalled, *, weak: bool = False) -> Update:
    """Return the channels that a solver reads lessons and examples from; they are empty if there are none."""
    return {
        "memories": [memory.to_json() for memory in found.memories],
        "memory_prompt": render_memories(found.memories, weak=weak),
        "memory_messages": example_messages(found.examples),
        "memory_examples": [example.to_json() for example in found.examples],
    }


def _channels(shown: Update, state: State) -> Update:
    """Return the channels that lessons and examples fill, and clear those that an earlier task filled."""
    none = dict[str, Any](trial=None, episodes=[], pending=None)
    earlier = {name: none[name] for name in none if state.get(name)}
    if not shown["memory_messages"] and state.get("memory_messages") == []:
        shown = {name: shown[name] for name in ("memories", "memory_prompt")}
    return {**shown, **earlier, "verdict": None, "lessons": [], "extraction": None}
