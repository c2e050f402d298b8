"""What a memory bank refuses."""

from __future__ import annotations

from reasoningbank_langgraph.errors.base import ReasoningBankError


class InvalidMomentError(ReasoningBankError, ValueError):
    """A time without its zone, or something that is neither a time nor a checkpoint, was given as a moment."""


class BusyBankError(ReasoningBankError, RuntimeError):
    """A bank was to be written to in an event loop that is itself in the middle of writing to it."""

    def __init__(self, namespace: tuple[str, ...]) -> None:
        super().__init__(
            f"an asynchronous write to the bank {'/'.join(namespace)} is under way in this event loop, and this call "
            "would stop the loop for ever: await the asynchronous form of the method, or make the call in a thread"
        )


class PastBankError(ReasoningBankError):
    """A bank as it was at some moment cannot be written to."""


class UnknownAttemptError(ReasoningBankError, LookupError):
    """A bank holds no attempt with this id: none that waits, no episode and no lesson of one."""

    def __init__(self, attempt_id: str) -> None:
        self.attempt_id = attempt_id
        super().__init__(
            f"the bank has no attempt {attempt_id!r}: pending() and episodes() list their ids, and one that was "
            "forgotten is gone; is it the namespace that the attempt was made in?"
        )


class UnknownBranchError(ReasoningBankError):
    """A graph does not know what a thread wrote on its present branch."""

    def __init__(self, thread_id: str, problem: str) -> None:
        self.thread_id = thread_id
        super().__init__(
            f"what thread {thread_id!r} wrote is unknown: {problem}; forget(thread_id=...) removes all of it"
        )


class UnmeasuredEmbedderError(ReasoningBankError, ValueError):
    """A bank is to link near copies, and how similar they are was not measured for its embedder."""

    def __init__(self, embedder: str) -> None:
        super().__init__(
            f"how similar near copies of a lesson are was not measured for the embedder {embedder}: give "
            "Policy(copies='link', similarity=...), or use policy='skip', which compares texts only"
        )


class CannotMergeError(ReasoningBankError, ValueError):
    """Lessons were to be merged that cannot stand for one."""
