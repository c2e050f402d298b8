"""The root, and the errors that belong to no single room."""

from __future__ import annotations


class ReasoningBankError(Exception):
    """Root of all errors raised by this package."""


class ExperimentError(ReasoningBankError):
    """An experiment cannot start, or cannot continue in the folder it started in."""


class MissingDependencyError(ReasoningBankError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, *, instead: str = "") -> None:
        self.package, self.extra = package, extra
        hint = f", or {instead}" if instead else ""
        super().__init__(f"{package} is not installed: pip install 'reasoningbank-langgraph[{extra}]'{hint}")


class ScriptError(ReasoningBankError, AssertionError):
    """A scripted model ran out of replies or refused a call: the test fails, and no node takes it for an outage."""
