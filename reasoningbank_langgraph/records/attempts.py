"""One pass at one task."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from reasoningbank_langgraph.messages import Message, Text, to_messages
from reasoningbank_langgraph.records.base import Record
from reasoningbank_langgraph.records.episodes import RetrievedExample
from reasoningbank_langgraph.records.lessons import RetrievedMemory
from reasoningbank_langgraph.records.tasks import normalise_task, task_key


class Attempt(Record):
    """One pass at one task: what a judge looks at and an extractor learns from."""

    task: Text
    task_id: str = Field(default_factory=lambda data: task_key(data.get("task", "")))
    messages: Annotated[tuple[Message, ...], BeforeValidator(to_messages)] = ()
    """The trajectory, as plain records. LangChain messages, `(role, content)` pairs and dicts are converted."""
    answer: Text | None = None
    reference: Text | None = None
    """The known right answer, for judges that compare; it is never shown to a model."""
    memories: tuple[RetrievedMemory, ...] = ()
    """The lessons it was shown."""
    examples: tuple[RetrievedExample, ...] = ()
    """The worked examples it was shown."""
    usage: Mapping[str, int] = Field(default_factory=dict)
    """Tokens of the attempt: `input_tokens, output_tokens, total_tokens`."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            task: str,
            task_id: str = ...,
            messages: Iterable[Any] = ...,
            answer: str | None = ...,
            reference: str | None = ...,
            memories: Iterable[RetrievedMemory] = ...,
            examples: Iterable[RetrievedExample] = ...,
            usage: Mapping[str, int] = ...,
        ) -> None: ...

    @property
    def shown(self) -> tuple[str, ...]:
        """Ids of the lessons and examples it was shown."""
        lessons = (memory.item.id for memory in self.memories)
        return (*lessons, *(example.episode.id for example in self.examples))

    def digest(self, thread_id: str | None) -> str:
        """Return the content identity of this attempt within one thread (32 hexadecimal digits)."""
        parts: Sequence[str] = [thread_id or "", self.task_id, normalise_task(self.task), self.answer or ""]
        whole = hashlib.sha256()
        for part in [*parts, *(message.identity_json() for message in self.messages)]:
            whole.update(part.encode("utf-8", "surrogatepass") + b"\x00")
        return whole.hexdigest()[:32]
