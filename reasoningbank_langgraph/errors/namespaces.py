"""Namespaces that cannot be resolved."""

from __future__ import annotations

from reasoningbank_langgraph.errors.base import ReasoningBankError


class NamespaceError(ReasoningBankError, ValueError):
    """A namespace cannot be resolved to labels a store accepts."""


class MissingNamespaceLabelError(NamespaceError):
    """A label in braces has a value neither in `config["configurable"]` nor in the runtime context."""

    def __init__(self, label: str, available: list[str]) -> None:
        self.label, self.available = label, available
        names = ", ".join(sorted(available)) or "nothing"
        super().__init__(
            f"the namespace needs {label!r}, which is missing or None in config['configurable'] (there: {names}) and "
            f"in the runtime context: pass config={{'configurable': {{{label!r}: ...}}}} or context={{{label!r}: ...}}"
        )


class AmbiguousNamespaceLabelError(NamespaceError):
    """A label in braces has two values, so the wrong bank might be read or written."""

    def __init__(self, label: str, configured: object, context: object) -> None:
        self.label, self.configured, self.context = label, configured, context
        super().__init__(
            f"the namespace label {label!r} is {configured!r} in config['configurable'] but {context!r} in the runtime "
            "context: pass it in only one of them"
        )


class InvalidNamespaceLabelError(NamespaceError):
    """A namespace label is one that LangGraph stores refuse."""

    def __init__(self, label: object, problem: str) -> None:
        self.label = label
        super().__init__(f"namespace label {label!r} {problem}")
