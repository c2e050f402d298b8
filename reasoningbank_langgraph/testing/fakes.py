"""Scripted chat models and hashed embeddings, for tests of graphs that are offline and repeatable."""

from __future__ import annotations

import hashlib
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

from reasoningbank_langgraph.errors import ScriptError

Reply = str | AIMessage | Exception
"""What a scripted model answers: text, a message, or an error that is raised."""
Script = Sequence[Reply] | Callable[[list[BaseMessage]], Reply]
"""Replies in their order, or a function from the messages of a call to its reply."""


class ScriptedChatModel(BaseChatModel):
    """Chat model that answers from a script and fails loudly when the script runs out.

    Args:
        script: replies in order (text, an `AIMessage`, or an exception to raise), or a function from the
            messages to a reply, which never runs out.
        delay: seconds every call takes.

    Attributes:
        calls: the messages of every call so far, in order.
    """

    script: Any
    delay: float = 0.0
    calls: list[list[BaseMessage]] = Field(default_factory=list)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)
    _replies: Iterator[Reply] = PrivateAttr()

    def __init__(self, script: Script, **settings: Any) -> None:
        super().__init__(**{"script": script, **settings})
        self._replies = iter(()) if callable(script) else iter(script)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.delay:
            time.sleep(self.delay)
        reply = self._next(messages)
        if isinstance(reply, Exception):
            raise reply
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _next(self, messages: list[BaseMessage]) -> Reply:
        with self._lock:
            self.calls.append(list(messages))
            try:
                answer: Reply = self.script(messages) if callable(self.script) else next(self._replies)
            except StopIteration:
                raise ScriptError(f"the script has no reply for call {len(self.calls)}") from None
            except AssertionError as error:
                raise ScriptError(f"the script refused call {len(self.calls)}: {error}") from error
            return answer


class ScriptedToolModel(ScriptedChatModel):
    """Scripted chat model that tools can be bound to. Its script calls them: `AIMessage("", tool_calls=[...])`.

    Attributes:
        offered: the names of the tools of every call so far, in order.
    """

    offered: list[list[str]] = Field(default_factory=list)

    def __init__(self, script: Script, **settings: Any) -> None:  # type checkers would make one of the fields
        super().__init__(script, **settings)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Return the model with tools; it notes their names and calls those that its script calls."""
        names = [convert_to_openai_tool(tool)["function"]["name"] for tool in tools]
        return self.bind(offered=names)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.offered.append(kwargs.pop("offered", []))
        return super()._generate(messages, stop, run_manager, **kwargs)


class HashEmbeddings(Embeddings):
    """Embeds a text as its hashed words: texts that share words are close. For tests only, it knows no meaning.

    Args:
        dims: length of the vectors.

    Attributes:
        calls: the list of texts of every call so far.
    """

    model_name = "hash-embeddings"

    def __init__(self, dims: int = 64) -> None:
        self.dims = dims
        self.calls: list[list[str]] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector a text."""
        self.calls.append(list(texts))
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of one text."""
        return self.embed_documents([text])[0]

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * self.dims
        for word in re.findall(r"\w+", text.casefold()) or [text]:
            digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
            vector[int.from_bytes(digest[:4], "big") % self.dims] += 1.0 if digest[4] % 2 else -1.0
        length = math.hypot(*vector) or 1.0
        return [value / length for value in vector] if any(vector) else [1.0] + [0.0] * (self.dims - 1)
