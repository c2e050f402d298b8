"""Records and tasks that are not valid."""

from __future__ import annotations

from reasoningbank_langgraph.errors.base import ReasoningBankError


class InvalidRecordError(ReasoningBankError, ValueError):
    """A record was given values it cannot hold."""


class BlankFieldError(InvalidRecordError):
    """A required text is empty or holds nothing visible."""

    def __init__(self, record: str, field: str) -> None:
        self.record, self.field = record, field
        super().__init__(f"{record}.{field} is blank: give it at least one visible character")


class FieldTooLongError(InvalidRecordError):
    """A text is longer than its cap."""

    def __init__(self, record: str, field: str, length: int, cap: int) -> None:
        self.record, self.field, self.length, self.cap = record, field, length, cap
        super().__init__(f"{record}.{field} has {length} characters, at most {cap} are allowed: shorten it")


class TooManyItemsError(InvalidRecordError):
    """One attempt brought more lessons than the bank takes from it."""

    def __init__(self, count: int, cap: int) -> None:
        self.count, self.cap = count, cap
        super().__init__(f"one attempt may add at most {cap} lessons, got {count}: keep the {cap} most useful ones")


class InvalidTaskError(ReasoningBankError, ValueError):
    """The task is empty, too long or not text."""
