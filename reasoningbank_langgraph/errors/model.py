"""Models that cannot be called, started or fetched."""

from __future__ import annotations

from reasoningbank_langgraph.errors.base import ReasoningBankError


class ModelError(ReasoningBankError):
    """A language model could not be used."""


class ModelCallError(ModelError):
    """The model's server failed or refused the request."""

    def __init__(self, purpose: str, cause: BaseException, said: str | None = None) -> None:
        self.purpose = purpose
        super().__init__(f"{purpose}: the model call failed with {type(cause).__name__}: {(said or str(cause))[:300]}")


class ModelTimeoutError(ModelError):
    """The model did not answer within the time limit."""

    def __init__(self, purpose: str, seconds: float) -> None:
        self.purpose, self.seconds = purpose, seconds
        super().__init__(f"{purpose}: no answer within {seconds:g} s: raise the limit or use a faster model")


class ModelServerError(ModelError):
    """A model server did not start, died or did not answer."""


class ModelUnavailableError(ModelError):
    """No chat model can be made from the name given."""

    def __init__(self, model: str, problem: str) -> None:
        self.model = model
        super().__init__(f"model {model!r} cannot be used: {problem}")


class MissingModelError(ModelError, ValueError):
    """What is to be made needs a model, and none was given."""

    def __init__(self, maker: str, work: str, instead: str) -> None:
        self.maker = maker
        super().__init__(f"{maker} needs a model that {work}: pass {instead}")


class UnknownModelFileError(ModelError):
    """No model of this name can be pulled."""

    def __init__(self, name: str, known: list[str]) -> None:
        self.name, self.known = name, known
        super().__init__(f"there is no model {name!r} to pull: choose one of {', '.join(known)}")


class ModelDownloadError(ModelError):
    """A model file could not be fetched."""

    def __init__(self, url: str, problem: str) -> None:
        self.url = url
        super().__init__(f"{url}: {problem}")


class DownloadRefusedError(ModelDownloadError):
    """The server answered with an HTTP error."""


class DownloadInterruptedError(ModelDownloadError):
    """The network failed before the last byte; what was received is kept, and running the command again resumes."""


class DownloadDiskError(ModelDownloadError):
    """The disk is full or cannot be written."""


class DownloadChecksumError(ModelDownloadError):
    """The bytes received are not those of the model."""


class AdapterError(ModelError):
    """An adapter cannot be used, tried or decided on as it is."""


class TrialError(AdapterError, ValueError):
    """An adapter cannot be tried on these problems, or the trial did not come to its end."""


class TuneError(ReasoningBankError, ValueError):
    """No adapter can be tuned from this data, on this base or in this folder."""
