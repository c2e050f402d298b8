"""The root, and the errors that belong to no single room."""

from __future__ import annotations

from collections.abc import Mapping


class ReasoningBankError(Exception):
    """Root of all errors raised by this package."""


class ExperimentError(ReasoningBankError):
    """An experiment cannot start, or cannot continue in the folder it started in."""


class UnlearnedProblemsError(ExperimentError):
    """Problems failed: a bank is not complete, so nothing is compared with it yet, or a cycle is not measured."""

    def __init__(self, teacher: str, failures: Mapping[str, str], problems: int) -> None:
        self.teacher, self.failures = teacher, dict(failures)
        told = "; ".join(f"{problem}: {error[:120]}" for problem, error in list(failures.items())[:5])
        more = f"; and {len(failures) - 5} more" if len(failures) > 5 else ""
        super().__init__(
            f"{teacher}: {len(failures)} of {problems} problems failed ({told}{more}): run the same command "
            "again to try these, or go on without them with --leave-out-failed (leave_out_failed=True)"
        )


class FrozenBankError(ExperimentError):
    """The bank of an arm is no longer the one that its rows were made with."""

    def __init__(self, arm: str, problem: str) -> None:
        self.arm = arm
        super().__init__(
            f"the bank of arm {arm!r} {problem}: bring back the folders `learning*`, `banks` and `stream` of this run "
            "as they were, or begin again in another folder"
        )


class HarvestError(ReasoningBankError):
    """Training data cannot be made from these sources in this folder, or a folder holds none."""


class MissingDependencyError(ReasoningBankError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, *, instead: str = "") -> None:
        self.package, self.extra = package, extra
        hint = f", or {instead}" if instead else ""
        super().__init__(f"{package} is not installed: pip install 'reasoningbank-langgraph[{extra}]'{hint}")


class ScriptError(ReasoningBankError, AssertionError):
    """A scripted model ran out of replies or refused a call: the test fails, and no node takes it for an outage."""
