"""The channels the loop uses. All of them hold plain JSON data, so any checkpointer can store them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict, is_typeddict

from reasoningbank_langgraph.events import DropReason, ExtractionReason
from reasoningbank_langgraph.namespaces import read
from reasoningbank_langgraph.records import FailureKind
from reasoningbank_langgraph.state.channels import Latest, LatestList, OfLastRun, OfRun, Passing, Waiting
from reasoningbank_langgraph.state.lineage import LineRecord

Selector = str | Callable[[Any], Any]
"""A channel's name, or a function from the state to the value."""


class StartedAttempt(LineRecord):
    """What `retrieve` records of the attempt that starts, for the nodes after it."""

    task: str
    task_id: str
    reference: str | None
    start: int
    """Index of the attempt's first message in the conversation."""
    start_id: str | None
    """Id of that message, if it has one."""
    start_key: str | None
    """Key of its text, for a message without an id."""
    messages_before: int
    """Number of messages when the attempt started."""
    last_id: str | None
    """Id of the last of these messages."""
    answer_before: str | None
    """The answer to an earlier task, which does not count for this one."""
    began: int
    """When the attempt began (microseconds since 1970)."""
    verdict: NotRequired[dict[str, Any]]
    """A verdict that came with the attempt (`Verdict` as JSON): no judge is asked."""
    over: NotRequired[int | None]
    """When its run ended (microseconds since 1970), None while it goes on. The channel adds this and the next three."""
    loaded: NotRequired[int]
    """When the run that reads this began."""
    rewritten: NotRequired[int | None]
    """When this was copied into a later checkpoint, by `update_state` or a run without an attempt."""
    found: NotRequired[bool]
    """Whether this stood in the checkpoint that this call of the graph began from."""


class ExtractionReport(TypedDict):
    """How extraction went."""

    reason: ExtractionReason | None
    """Why there are no lessons."""
    truncated: bool
    dropped: dict[DropReason, int]
    """How many lessons were left out, by reason."""
    redacted: dict[str, int]
    """How many secrets were removed from the lessons, by kind."""
    raw: str | None
    """The beginning of a reply that gave no lesson."""
    failure: FailureKind | None
    """What kind of failure it was, if the reason is `error`."""
    asked: str | None
    """The reply format the model was asked for."""
    fallbacks: dict[str, int]
    """How often the server refused each reply format or token cap."""


class UnwrittenAttempt(TypedDict):
    """What one attempt left that waits for the bank."""

    namespace: list[str]
    items: list[dict[str, Any]]
    """`MemoryItem` as JSON."""
    episodes: NotRequired[list[dict[str, Any]]]
    """`Episode` as JSON; older versions left none."""
    trial: NotRequired[dict[str, Any]]
    """`Trial` as JSON, with its outcome."""
    credit: NotRequired[dict[str, Any]]
    """`GroupCredit` as JSON."""
    pending: NotRequired[dict[str, Any]]
    """`PendingAttempt` as JSON."""
    usage: NotRequired[dict[str, dict[str, int]]]
    """What the attempt used."""
    seen: list[str]
    """Experiences that were waiting already."""


def add_ids(old: list[str] | None, new: list[str] | None) -> list[str]:
    """Join two lists of ids, each id once, in order of first appearance."""
    return list(dict.fromkeys([*(old or []), *(new or [])]))


if TYPE_CHECKING:

    class _Conversation(TypedDict, total=False):
        """Empty for type checkers: they refuse a class of which two bases, `MessagesState` too, declare `messages`."""
else:

    class _Conversation(TypedDict, total=False):
        messages: Annotated[list[AnyMessage], add_messages]
        """The conversation. The solver may read it and add to it."""


class ReasoningBankState(_Conversation, total=False):
    """State of a graph with a memory. Include it in your own state, or let the nodes add the channels they need.

    It has the channel `messages` too. For type checkers, add the other base that declares it:
    `class State(MessagesState, ReasoningBankState)`.

    Task, task id and reference belong to one run: they can be read during the run and after it, and the thread's next
    run begins without them. Only a run that was given up while it waited can leave its id and reference to the next
    one, where a graph of your own contains the loop or waits before `retrieve`: give None with a task that has none.
    Loops that run side by side (`Send`, parallel branches) may write the same channels.
    """

    task: Annotated[str, OfRun]
    """The task at hand, from the input. If the input has none, the user's newest message is the task."""
    task_id: Annotated[str | None, OfRun]
    """The task's id; by default a hash of its text. Lessons of the same task are never shown."""
    reference: Annotated[str | None, OfRun]
    """The known right answer, for judges that compare. It is never shown to a model."""
    memory_prompt: Annotated[str, Latest]
    """Lessons for the model, filled by `retrieve`: put it into a user message before the task; empty for none."""
    memory_messages: Annotated[list[dict[str, Any]], LatestList]
    """A worked example for the model, filled by `retrieve`: a message of the user and one of the assistant as mappings
    with `role` and `content`, between them the calls of tools and their results. Put them before the task; empty for
    none."""
    memory_examples: Annotated[list[dict[str, Any]], LatestList]
    """The same as records (`RetrievedExample` as JSON), filled by `retrieve`."""
    memories: Annotated[list[dict[str, Any]], Latest]
    """The same lessons as records (`RetrievedMemory` as JSON), filled by `retrieve`."""
    trial: Annotated[dict[str, Any] | None, Latest]
    """What a guard decided for this task (`Trial` as JSON), filled by `retrieve`; None without one, and where there was
    no lesson to show."""
    answer: Annotated[str | None, Latest]
    """The solver's answer; if it returns only messages, the last one counts."""
    attempt: Annotated[StartedAttempt, OfLastRun]
    """What `retrieve` records of the attempt for the nodes after it."""
    verdict: Annotated[dict[str, Any] | None, Latest]
    """`Verdict` as JSON, filled by `judge`."""
    lessons: Annotated[list[dict[str, Any]], Latest]
    """What `extract` distilled, with ids (`MemoryItem` as JSON): checkpointed before anything is written."""
    episodes: Annotated[list[dict[str, Any]], Latest]
    """What is kept of the attempt itself (`Episode` as JSON), filled by `extract`."""
    extraction: Annotated[ExtractionReport | None, Latest]
    """How extraction went."""
    pending: Annotated[dict[str, Any] | None, Latest]
    """The attempt, if it waits in the bank for a verdict or a model (`PendingAttempt` as JSON): `MemoryBank.resolve`
    takes its `id`. Filled by `defer` or `extract`; None if there is nothing more to learn from it."""
    memory_usage: Annotated[dict[str, dict[str, int]], Latest]
    """What the attempt has used so far, by step as in `BankStats.usage`."""
    memory_error: Annotated[str | None, Latest]
    """Why the bank could not be read or written in this run, which went on without it; None if it could."""
    unwritten: Annotated[list[UnwrittenAttempt], Waiting]
    """Attempts whose lessons and episodes wait for the bank to be reachable."""
    written: Annotated[list[str], add_ids]
    """Ids of all items this branch of the thread has in the bank, filled by `consolidate`. A graph that contains the
    loop as a node needs this channel too: it tells the thread's branches apart."""
    kept: Annotated[list[str], add_ids]
    """Ids of the attempts this branch of the thread has in the bank, episodes and those that wait, filled by
    `consolidate`."""


class LoopState(ReasoningBankState, total=False):
    """State of the whole loop: `retrieve` comes first, so no later node needs the task's id and reference."""

    task_id: Annotated[str | None, Passing]
    reference: Annotated[str | None, Passing]


class ChannelNames(NamedTuple):
    """The graph's names for the three channels that the user's part fills."""

    task: Selector = "task"
    answer: Selector = "answer"
    messages: Selector = "messages"

    def read(self, which: str, state: Mapping[str, Any]) -> Any:
        """Return the value of `task`, `answer` or `messages` in this state, or None."""
        selector = getattr(self, which)
        if isinstance(selector, str):
            return state.get(selector)
        return selector(state.user_state if isinstance(state, _StateView) else state)

    def of_state(self, own: type[Any] | None) -> ChannelNames:
        """Return these names for a graph that holds the user's state as a mapping: functions still get an `own`."""
        if own is None or is_typeddict(own):
            return self
        return ChannelNames(*(one if isinstance(one, str) else _typed(one, own) for one in self))


def _typed(selector: Callable[[Any], Any], own: type[Any]) -> Callable[[Any], Any]:
    fields = get_type_hints(own)

    def select(state: Mapping[str, Any]) -> Any:
        return selector(own(**{name: state[name] for name in fields if name in state}))

    return select


class _StateView(Mapping[str, Any]):
    """Reads a state that is a dataclass or a model like a mapping."""

    def __init__(self, user_state: Any) -> None:
        self.user_state = user_state

    def __getitem__(self, name: str) -> Any:
        if (value := read(self.user_state, name)) is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self.user_state))

    def __len__(self) -> int:
        return len(vars(self.user_state))


def as_state(state: Any) -> Mapping[str, Any]:
    """Return the state that a node receives as a mapping, whatever kind it is."""
    return state if isinstance(state, Mapping) else _StateView(state)


_CHOSEN = (Annotated, Required, NotRequired)
"""Annotations that name a channel or that LangGraph reads itself."""


_GIVEN = ("task", "answer", "messages", "task_id", "reference")
"""Channels that a user fills."""


def _check_channels(filled: Mapping[str, Any], names: ChannelNames, users: Mapping[str, Any]) -> None:
    """Raise `ValueError` where a user keeps something in a channel that the loop fills: it would be overwritten."""
    for argument, name in names._asdict().items():
        if isinstance(name, str) and name in filled:
            raise ValueError(f"{argument}={name!r} is a channel that the loop fills itself: choose another name")
    for name in sorted(filled.keys() & users.keys()):
        if not _may_hold(users[name], filled[name]):
            raise ValueError(
                f"channel {name!r} of your state is declared as {users[name]!r:.200}, and the loop keeps "
                f"{' or '.join(kind.__name__ for kind in _kinds(filled[name]))} there and would overwrite yours: "
                "give yours another name, or declare it as that if you only read it"
            )


def _may_hold(declared: Any, kept: Any) -> bool:
    allowed = _kinds(declared) - {object}
    return all(any(issubclass(kind, one) for one in allowed) for kind in _kinds(kept))


def _kinds(hint: Any) -> set[type]:
    """Return the classes that values of a type have, None left out."""
    origin = get_origin(hint)
    if origin in _CHOSEN:
        return _kinds(get_args(hint)[0])
    if origin in (Union, UnionType):
        return {kind for one in get_args(hint) for kind in _kinds(one)}
    kind = dict if is_typeddict(hint) else origin or hint
    return {kind} if isinstance(kind, type) and kind is not NoneType else set()


def loop_state(base: type[Any], names: ChannelNames, own: type[Any] | None) -> type[Any]:
    """Return the state of a graph: the channels of `base`, the user's own, and one for each name missing from both.

    Raises:
        ValueError: the user has a channel of another kind where the loop keeps something itself.
    """
    hints = get_type_hints(base, include_extras=True)
    renamed = {chosen: hints[name] for name, chosen in names._asdict().items() if isinstance(chosen, str)}
    users = get_type_hints(own, include_extras=True) if own is not None else {}
    _check_channels({name: kind for name, kind in hints.items() if name not in _GIVEN}, names, users)
    if names.task in users and names.task != names.messages and get_origin(users[names.task]) not in _CHOSEN:
        users[names.task] = Annotated[users[names.task], OfRun]
    return TypedDict("ReasoningBankLoop", {**renamed, **hints, **users}, total=False)  # type: ignore[operator, no-any-return]
