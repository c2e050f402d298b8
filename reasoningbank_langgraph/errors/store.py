"""What a store refuses, and stores that cannot be reached."""

from __future__ import annotations

import reprlib

from reasoningbank_langgraph.errors.base import ReasoningBankError


class StoreError(ReasoningBankError):
    """The store of a bank cannot do what was asked."""


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
            "or run `reasoningbank bank serve` and use ChromaStore.from_server for several writers"
        )


class StoreClosedError(StoreError):
    """The store was used after `close()`."""


class ForkedStoreError(StoreError):
    """A forked child used a store that its parent opened."""

    def __init__(self, owner: int, child: int) -> None:
        self.owner, self.child = owner, child
        super().__init__(
            f"process {owner} opened this store and process {child} was forked from it: close the store in the parent "
            "and open the bank in the child, or run `reasoningbank bank serve` and use ChromaStore.from_server in both"
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
            f"the bank {collection!r} has schema {schema}, and this version of reasoningbank-langgraph reads schemas "
            f"up to {known}: install the version that made the bank, or a newer one"
        )


class NotOnServerError(StoreError):
    """A bank on a server cannot be vacuumed from a client."""

    def __init__(self) -> None:
        super().__init__(
            "the files of this bank belong to a Chroma server: stop the server and run, on its machine, "
            "`reasoningbank bank vacuum --bank FOLDER` (`chroma vacuum --path FOLDER` frees the space but keeps the "
            "deleted texts)"
        )


class InvalidStoreError(StoreError, TypeError):
    """An object given as a store is not a LangGraph store."""

    def __init__(self, store: object) -> None:
        self.store = store
        super().__init__(
            f"a bank needs a LangGraph store (BaseStore), got {type(store).__name__} {store!r:.80}: "
            "pass for example ChromaStore.from_path('./bank')"
        )


class InvalidValueError(StoreError, ValueError):
    """A value cannot be stored because JSON cannot hold it; nothing was written."""

    def __init__(self, key: object, problem: str) -> None:
        self.key, self.problem = key, problem
        super().__init__(f"the value of {str(key)[:80]!r} cannot be stored: {problem}; nothing was written")


class InvalidOperationError(StoreError, ValueError):
    """A batch holds something that is not an operation of a LangGraph store, or one with impossible numbers."""


class OperationTypeError(InvalidOperationError, TypeError):
    """An argument of a store's method has a type that it does not take, as in `limit="5"`."""

    def __init__(self, argument: str, expected: str, value: object) -> None:
        self.argument, self.value = argument, value
        super().__init__(_expected(argument, expected, value))


class StoreSettingError(StoreError, TypeError):
    """A setting with which a store is opened has a type that it does not take; nothing was opened."""

    def __init__(self, setting: str, expected: str, value: object) -> None:
        self.setting, self.value = setting, value
        super().__init__(_expected(setting, expected, value))


class InvalidFilterError(StoreError, ValueError):
    """A search filter has the wrong shape or an operator that stores do not have."""


class EncryptionKeyError(StoreError, ValueError):
    """The encryption key of a bank is missing, malformed or another one; nothing was written."""


class MissingEncryptionKeyError(EncryptionKeyError):
    """The bank is encrypted and no key was given."""

    def __init__(self) -> None:
        super().__init__(
            "the bank is encrypted: open it with its key, ChromaStore.from_path(path, encryption_key=...); commands "
            "read it, as base64, from the environment variable REASONINGBANK_KEY"
        )


class WrongEncryptionKeyError(EncryptionKeyError):
    """The bank was encrypted with another key."""

    def __init__(self) -> None:
        super().__init__("the bank was encrypted with another key than the one given: nothing was read or written")


class UnencryptedBankError(EncryptionKeyError):
    """A key was given for a bank that is not encrypted."""

    def __init__(self) -> None:
        super().__init__(
            "the bank is not encrypted, so it is not opened with a key: to encrypt it, run `reasoningbank bank rekey` "
            "with the key in REASONINGBANK_NEW_KEY and none in REASONINGBANK_KEY, or in Python "
            "reasoningbank_langgraph.store.rekey(path, None, key)"
        )


class EmbeddingMismatchError(StoreError):
    """The bank was made with another embedder than the one given."""

    def __init__(self, stored: str, given: str) -> None:
        self.stored, self.given = stored, given
        super().__init__(
            f"the bank holds vectors of {stored}, but the embedder given is {given}: "
            "open it with the first one. To move it for good, so that the first one is refused from then on, use "
            "ChromaStore.from_path(path, embeddings=..., reindex=True), or for the packaged embedder "
            "`reasoningbank bank reindex --bank PATH`"
        )


class EmbeddingError(StoreError):
    """The embedder returned something that is not a usable vector."""


def _expected(name: str, expected: str, value: object) -> str:
    return f"{name} is {expected}, got {type(value).__name__} {reprlib.repr(value)}"
