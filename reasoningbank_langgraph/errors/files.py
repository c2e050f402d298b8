"""Files that cannot be read."""

from __future__ import annotations

from reasoningbank_langgraph.errors.base import ReasoningBankError


class NotAFileError(ReasoningBankError, OSError):
    """A folder, a pipe, a socket or a device stands where a file is needed."""

    def __init__(self, path: object) -> None:
        self.path = path
        super().__init__(f"{path} is a folder, a pipe or a device: name a file")
        self.strerror = "it is a folder, a pipe or a device, not a file"


class ProblemFileError(ReasoningBankError, ValueError):
    """A file of problems cannot be read."""

    def __init__(self, path: object, line: int | None, problem: str) -> None:
        self.path, self.line = path, line
        example = '{"id": "p1", "problem": "2 + 2", "answer": "4"}'
        super().__init__(f"{_place(path, line)}: {problem}; a line looks like {example}")


class ImportFileError(ReasoningBankError, ValueError):
    """A file cannot be imported into a bank; nothing of it was."""

    def __init__(self, path: object, line: int | None, problem: str) -> None:
        self.path, self.line, self.problem = path, line, problem
        super().__init__(f"{_place(path, line)}: {problem:.500}; nothing was imported")


def _place(path: object, line: int | None) -> str:
    return f"{path}" if line is None else f"{path}, line {line}"
