"""Every error the package raises on purpose.

Catch `ReasoningBankError` to catch them all; each message carries the value that was wrong and the way out.

    ReasoningBankError
    ├── InvalidRecordError (ValueError)        a record was given values it cannot hold
    │   ├── BlankFieldError                    a required text is empty or only invisible characters
    │   ├── FieldTooLongError                  a text is longer than its cap
    │   └── TooManyItemsError                  one attempt brought more items than allowed
    ├── InvalidTaskError (ValueError)          the task is empty, too long or not text
    ├── ProblemFileError (ValueError)          a file of problems cannot be read as one
    ├── ImportFileError (ValueError)           a file is no export of a bank; nothing was imported
    ├── NotAFileError (OSError)                a folder, a pipe or a device stands where a file is needed
    ├── ExperimentError                        an experiment cannot begin or go on as it is
    ├── NamespaceError (ValueError)
    │   ├── MissingNamespaceLabelError         a label in braces has no value in config or context
    │   ├── AmbiguousNamespaceLabelError       config and context give a label different values
    │   └── InvalidNamespaceLabelError         a label LangGraph stores would refuse
    ├── InvalidMomentError (ValueError)         `as_of` was given no moment
    ├── PastBankError                          a bank as it was cannot be written to
    ├── UnknownBranchError                     a graph does not know what a thread wrote
    ├── MissingStoreError                      the graph was compiled without a store
    ├── CachedNodeError (ValueError)           a node that reads or writes memory has a cache policy
    ├── TooFewAttemptsError                    too many rollouts of a task failed
    ├── MissingStateError                      a node found no channel that an earlier node fills
    ├── MissingDependencyError (ImportError)   an optional package is not installed
    ├── JudgeError (TypeError)                 what was given as a judge does not answer as one
    ├── ScriptError (AssertionError)           a scripted model has no reply left, or its script found a mistake
    ├── ModelError
    │   ├── ModelCallError                     the model's server failed or refused the request
    │   ├── ModelTimeoutError                  the model did not answer within the time limit
    │   ├── ModelServerError                   a model server did not start or did not answer
    │   ├── ModelUnavailableError              no chat model can be made from this name
    │   ├── UnknownModelFileError              no model of this name can be pulled
    │   └── ModelDownloadError                 a model file could not be fetched
    │       ├── DownloadRefusedError           the server answered with an HTTP error
    │       ├── DownloadInterruptedError       the network failed; a rerun goes on where it stopped
    │       ├── DownloadDiskError              the disk is full or cannot be written
    │       └── DownloadChecksumError          the bytes are not those of the model
    └── StoreError
        ├── StorePathError                     the path cannot hold a bank
        ├── StoreLockedError                   another process writes to this bank
        ├── StoreClosedError                   the store was used after `close()`
        ├── ForkedStoreError                   a forked child used a store of its parent
        ├── StoreUnavailableError              the Chroma server cannot be reached
        ├── StoreCorruptedError                rows on disk do not have the shape that was written
        ├── StoreSchemaError                   a newer version of the package made the bank
        ├── NotOnServerError                   only the owner of the bank's files can do this
        ├── InvalidStoreError (TypeError)      what was given as a store is none
        ├── InvalidValueError (ValueError)     a value that JSON cannot hold was to be stored
        ├── InvalidOperationError (ValueError) a batch holds something that is no store operation
        ├── InvalidFilterError (ValueError)    a search filter uses an operator that does not exist
        ├── EmbeddingMismatchError             the bank was made with another embedder
        └── EmbeddingError                     the embedder returned something that is no vector
"""

from __future__ import annotations


class ReasoningBankError(Exception):
    """Root of all errors raised by this package."""


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
        super().__init__(f"{record}.{field} has {length} characters and may have {cap}: shorten it")


class TooManyItemsError(InvalidRecordError):
    """One attempt brought more items than the bank takes from it."""

    def __init__(self, count: int, cap: int) -> None:
        self.count, self.cap = count, cap
        super().__init__(f"one attempt may add {cap} items, got {count}: keep the {cap} most useful ones")


class InvalidTaskError(ReasoningBankError, ValueError):
    """The task text cannot be worked on."""


class ProblemFileError(ReasoningBankError, ValueError):
    """A file of problems cannot be read as one."""

    def __init__(self, path: object, line: int | None, problem: str) -> None:
        self.path, self.line = path, line
        where = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f'{where}: {problem}; a line looks like {{"id": "p1", "problem": "2 + 2", "answer": "4"}}')


class ImportFileError(ReasoningBankError, ValueError):
    """A file cannot be imported into a bank; nothing of it was."""

    def __init__(self, path: object, line: int | None, problem: str) -> None:
        self.path, self.line = path, line
        where = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {problem:.500}; nothing was imported")


class NotAFileError(ReasoningBankError, OSError):
    """A folder, a pipe, a socket or a device stands where a file is needed."""

    def __init__(self, path: object) -> None:
        self.path = path
        super().__init__(f"{path} is no file but a folder, a pipe or a device: name a file")
        self.strerror = "it is no file but a folder, a pipe or a device"


class ExperimentError(ReasoningBankError):
    """An experiment cannot begin, or not go on in the folder it began in."""


class NamespaceError(ReasoningBankError, ValueError):
    """A namespace cannot be resolved to labels a store accepts."""


class MissingNamespaceLabelError(NamespaceError):
    """A label in braces has a value neither in `config["configurable"]` nor in the runtime context."""

    def __init__(self, label: str, available: list[str]) -> None:
        self.label, self.available = label, available
        known = ", ".join(sorted(available)) or "nothing"
        super().__init__(
            f"the namespace needs {label!r}; config['configurable'] holds {known}, and the runtime context has no such "
            f"value: pass config={{'configurable': {{{label!r}: ...}}}} or context={{{label!r}: ...}}"
        )


class AmbiguousNamespaceLabelError(NamespaceError):
    """A label in braces has two values: one bank would be read or written in place of another."""

    def __init__(self, label: str, configured: object, context: object) -> None:
        self.label, self.configured, self.context = label, configured, context
        super().__init__(
            f"the namespace's {label!r} is {configured!r} in config['configurable'] and {context!r} in the runtime "
            "context: give it in one of them"
        )


class InvalidNamespaceLabelError(NamespaceError):
    """A namespace label is one that LangGraph stores refuse."""

    def __init__(self, label: object, problem: str) -> None:
        self.label = label
        super().__init__(f"namespace label {label!r} {problem}")


class InvalidMomentError(ReasoningBankError, ValueError):
    """Something that is no moment in the life of a bank."""


class PastBankError(ReasoningBankError):
    """A bank as it was at some moment cannot be written to."""


class UnknownBranchError(ReasoningBankError):
    """A graph cannot say what a thread wrote on its present branch."""

    def __init__(self, thread_id: str, problem: str) -> None:
        self.thread_id = thread_id
        super().__init__(
            f"what thread {thread_id!r} wrote is not known: {problem}; forget(thread_id=...) removes all of it"
        )


class MissingStoreError(ReasoningBankError):
    """A node needs a store and the graph has none."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(
            f"node {node!r} found no store: compile the graph with compile(store=...), "
            "for example ChromaStore.from_path('./bank')"
        )


class CachedNodeError(ReasoningBankError, ValueError):
    """A node is cached, or one that holds it, and what it reads and writes depends on more than its input."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(
            f"node {node!r}, or a node or task around it, has a cache policy, and its cache would hand the memory of "
            "one tenant to another and keep lessons from being written: leave cache_policy out there; where "
            "set_node_defaults() gives it to all nodes, give it to your own with add_node(..., cache_policy=...)"
        )


class TooFewAttemptsError(ReasoningBankError):
    """Fewer rollouts of a task came to an end than are needed."""

    def __init__(self, ended: int, needed: int, failures: dict[int, str]) -> None:
        self.ended, self.needed, self.failures = ended, needed, failures
        causes = "; ".join(f"rollout {number}: {cause}" for number, cause in sorted(failures.items()))
        super().__init__(
            f"{ended} rollouts came to an end and min_attempts asks for {needed} ({causes}): "
            "remove the cause and give the task again, or lower min_attempts"
        )


class MissingStateError(ReasoningBankError):
    """A node needs a channel that an earlier node should have filled."""

    def __init__(self, node: str, channel: str, earlier: str) -> None:
        self.node, self.channel, self.earlier = node, channel, earlier
        super().__init__(
            f"node {node!r} found nothing in channel {channel!r}: run {earlier!r} before it, and let the "
            "graph's state include ReasoningBankState where `task`, `answer` or `messages` is a function"
        )


class MissingDependencyError(ReasoningBankError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, *, instead: str = "") -> None:
        self.package, self.extra = package, extra
        hint = f", or {instead}" if instead else ""
        super().__init__(f"{package} is not installed: pip install 'reasoningbank-langgraph[{extra}]'{hint}")


class JudgeError(ReasoningBankError, TypeError):
    """What was given as a judge does not answer as one: a mistake in the program, so the run ends with it."""


class ScriptError(ReasoningBankError, AssertionError):
    """A scripted model has no reply left, or its script found a mistake: the test has to fail, no outage is seen."""


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


class UnknownModelFileError(ModelError):
    """No model of this name can be pulled."""

    def __init__(self, name: str, known: list[str]) -> None:
        self.name, self.known = name, known
        super().__init__(f"no model {name!r} to pull: choose one of {', '.join(known)}")


class ModelDownloadError(ModelError):
    """A model file could not be fetched."""

    def __init__(self, url: str, problem: str) -> None:
        self.url = url
        super().__init__(f"{url}: {problem}")


class DownloadRefusedError(ModelDownloadError):
    """The server answered with an HTTP error."""


class DownloadInterruptedError(ModelDownloadError):
    """The network failed before the last byte; what arrived is kept and a rerun goes on from there."""


class DownloadDiskError(ModelDownloadError):
    """The disk is full or cannot be written."""


class DownloadChecksumError(ModelDownloadError):
    """The bytes that arrived are not those of the model."""


class StoreError(ReasoningBankError):
    """The bank's store cannot do what was asked."""


class StorePathError(StoreError):
    """The path cannot hold a bank."""

    def __init__(self, path: object, problem: str) -> None:
        self.path = path
        super().__init__(f"{str(path)!r} cannot hold a bank: {problem}")


class StoreLockedError(StoreError):
    """Another process (or another store in this one) writes to the same bank."""

    def __init__(self, path: object, owner: str) -> None:
        self.path, self.owner = path, owner
        super().__init__(
            f"the bank at {str(path)!r} is in use by {owner}: close that store first, "
            "or run `chroma run` and use ChromaStore.from_server for several writers"
        )


class StoreClosedError(StoreError):
    """The store was used after `close()`."""


class ForkedStoreError(StoreError):
    """A forked child used a store that its parent opened."""

    def __init__(self, owner: int, child: int) -> None:
        self.owner, self.child = owner, child
        super().__init__(
            f"process {owner} opened this store and process {child} was forked from it: open the bank in the child, "
            "after the parent has closed it, or run `reasoningbank bank serve` and use ChromaStore.from_server in each"
        )


class StoreUnavailableError(StoreError):
    """The Chroma server cannot be reached."""


class StoreCorruptedError(StoreError):
    """Rows on disk do not have the shape that was written."""


class StoreSchemaError(StoreError):
    """A newer version of the package made the bank; nothing was written to it."""

    def __init__(self, collection: str, schema: int, known: int) -> None:
        self.collection, self.schema, self.known = collection, schema, known
        super().__init__(
            f"the bank {collection!r} has schema {schema}, this version of reasoningbank-langgraph knows no later one "
            f"than {known}: install the version that made the bank, or a newer one"
        )


class NotOnServerError(StoreError):
    """A bank on a server cannot be vacuumed from a client."""

    def __init__(self) -> None:
        super().__init__(
            "the files of this bank belong to a Chroma server: stop it and run, on its machine, "
            "`reasoningbank bank vacuum --bank FOLDER` (`chroma vacuum --path FOLDER` only gives room back, "
            "deleted texts stay)"
        )


class InvalidStoreError(StoreError, TypeError):
    """Something that is no LangGraph store was given as one."""

    def __init__(self, store: object) -> None:
        self.store = store
        super().__init__(
            f"a bank needs a LangGraph store (BaseStore), got {type(store).__name__} {store!r:.80}: "
            "give for example ChromaStore.from_path('./bank')"
        )


class InvalidValueError(StoreError, ValueError):
    """A value cannot be stored because JSON has no form for it; nothing was written."""

    def __init__(self, key: object, problem: str) -> None:
        self.key, self.problem = key, problem
        super().__init__(f"the value of {str(key)[:80]!r} cannot be stored: {problem}; nothing was written")


class InvalidOperationError(StoreError, ValueError):
    """A batch holds something that is no operation of a LangGraph store, or one with impossible numbers."""


class InvalidFilterError(StoreError, ValueError):
    """A search filter has the wrong shape or an operator that stores do not have."""


class EmbeddingMismatchError(StoreError):
    """The bank was made with another embedder than the one given."""

    def __init__(self, stored: str, given: str) -> None:
        self.stored, self.given = stored, given
        super().__init__(
            f"the bank holds vectors of {stored}, the embedder given is {given}: "
            "open it with the first one, or move it with "
            "ChromaStore.from_path(path, embeddings=..., reindex=True) "
            "or `reasoningbank bank reindex --bank PATH`"
        )


class EmbeddingError(StoreError):
    """The embedder returned something that is no usable vector."""
