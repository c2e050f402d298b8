"""Every error the package raises on purpose. A message says what is wrong, shows the value and names the way out.

Catch `ReasoningBankError` to catch them all; the built-in class in brackets catches an error too.

    ReasoningBankError
        InvalidRecordError (ValueError)            a record was given values it cannot hold
            BlankFieldError                        a required text is empty or only invisible characters
            FieldTooLongError                      a text is longer than its cap
            TooManyItemsError                      one attempt brought more lessons than allowed
        InvalidTaskError (ValueError)              the task is empty, too long or not text
        NamespaceError (ValueError)                a namespace has no labels that a store accepts
            MissingNamespaceLabelError             a label in braces has no value in config or context
            AmbiguousNamespaceLabelError           config and context give a label different values
            InvalidNamespaceLabelError             LangGraph stores would refuse this label
        NotAFileError (OSError)                    a folder, a pipe or a device stands where a file is needed
        ProblemFileError (ValueError)              a file of problems cannot be read
        ImportFileError (ValueError)               a file is not the export of a bank; nothing was imported
        TuneError (ValueError)                     no adapter can be tuned from this data, base or folder
        InvalidMomentError (ValueError)            a moment is neither a time with its zone nor a checkpoint
        PastBankError                              a bank as it was cannot be written to
        BusyBankError (RuntimeError)               an event loop writes to a bank and would wait for itself
        UnknownAttemptError (LookupError)          a bank has no attempt with this id
        UnknownBranchError                         a graph does not know what a thread wrote
        UnmeasuredEmbedderError (ValueError)       a bank cannot tell near copies by its embedder
        CannotMergeError (ValueError)              lessons cannot be merged into one
        MissingStoreError                          the graph was compiled without a store
        MissingStateError                          a channel that an earlier node fills is empty
        CachedNodeError (ValueError)               a node that reads or writes memory has a cache policy
        TooFewAttemptsError                        too many rollouts of a task failed
        JudgeError (TypeError)                     an object given as a judge does not answer like one
        ModelError                                 a language model could not be used
            ModelCallError                         the model's server failed or refused the request
            ModelTimeoutError                      the model did not answer within the time limit
            ModelServerError                       a model server did not start or did not answer
            ModelUnavailableError                  no chat model can be made from this name
            MissingModelError (ValueError)         what is to be made needs a model and got none
            UnknownModelFileError                  no model of this name can be pulled
            ModelDownloadError                     a model file could not be fetched
                DownloadRefusedError               the server answered with an HTTP error
                DownloadInterruptedError           the network failed; running the command again resumes
                DownloadDiskError                  the disk is full or cannot be written
                DownloadChecksumError              the bytes received are not those of the model
            AdapterError                           an adapter cannot be used, tried or decided on as it is
                TrialError (ValueError)            these problems cannot decide on an adapter
        StoreError                                 the store of a bank cannot do what was asked
            StorePathError                         the path cannot hold a bank
            StoreLockedError                       another process writes to this bank
            StoreClosedError                       the store was used after `close()`
            ForkedStoreError                       a forked child used a store that its parent opened
            StoreUnavailableError                  the Chroma server cannot be reached
            StoreCorruptedError                    rows on disk do not have the shape that was written
            StoreSchemaError                       a newer version of the package made the bank
            NotOnServerError                       only the machine with the bank's files can do this
            InvalidStoreError (TypeError)          an object given as a store is not a LangGraph store
            InvalidValueError (ValueError)         a value cannot be stored because JSON cannot hold it
            InvalidOperationError (ValueError)     a batch holds something that is not a store operation
                OperationTypeError (TypeError)     an argument has a type that the method does not take
            StoreSettingError (TypeError)          a setting of a store has a type that it does not take
            InvalidFilterError (ValueError)        a search filter is malformed or has an unknown operator
            EncryptionKeyError (ValueError)        the encryption key of a bank is malformed or does not fit
                MissingEncryptionKeyError          the bank is encrypted and no key was given
                WrongEncryptionKeyError            the bank was encrypted with another key
                UnencryptedBankError               a key was given for a bank that is not encrypted
            EmbeddingMismatchError                 the bank was made with another embedder
            EmbeddingError                         the embedder returned something that is not a vector
        ExperimentError                            an experiment cannot start or continue as it is
            UnlearnedProblemsError                 problems failed: a bank is not complete, or a cycle
            FrozenBankError                        a bank is not the one that rows were made with
        HarvestError                               training data cannot be made, or a folder holds none
        MissingDependencyError (ImportError)       an optional package is not installed
        ScriptError (AssertionError)               a scripted model ran out of replies or refused a call

- `base`: the root, and the errors that belong to no single room
- `records`: records and tasks that are not valid
- `namespaces`: namespaces that cannot be resolved
- `files`: files that cannot be read
- `bank`: what a memory bank refuses
- `loop`: graphs whose nodes cannot do their work
- `model`: models that cannot be called, started or fetched
- `store`: what a store refuses, and stores that cannot be reached
"""

from reasoningbank_langgraph.errors.bank import (
    BusyBankError,
    CannotMergeError,
    InvalidMomentError,
    PastBankError,
    UnknownAttemptError,
    UnknownBranchError,
    UnmeasuredEmbedderError,
)
from reasoningbank_langgraph.errors.base import (
    ExperimentError,
    FrozenBankError,
    HarvestError,
    MissingDependencyError,
    ReasoningBankError,
    ScriptError,
    UnlearnedProblemsError,
)
from reasoningbank_langgraph.errors.files import ImportFileError, NotAFileError, ProblemFileError
from reasoningbank_langgraph.errors.loop import (
    CachedNodeError,
    JudgeError,
    MissingStateError,
    MissingStoreError,
    TooFewAttemptsError,
)
from reasoningbank_langgraph.errors.model import (
    AdapterError,
    DownloadChecksumError,
    DownloadDiskError,
    DownloadInterruptedError,
    DownloadRefusedError,
    MissingModelError,
    ModelCallError,
    ModelDownloadError,
    ModelError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    TrialError,
    TuneError,
    UnknownModelFileError,
)
from reasoningbank_langgraph.errors.namespaces import (
    AmbiguousNamespaceLabelError,
    InvalidNamespaceLabelError,
    MissingNamespaceLabelError,
    NamespaceError,
)
from reasoningbank_langgraph.errors.records import (
    BlankFieldError,
    FieldTooLongError,
    InvalidRecordError,
    InvalidTaskError,
    TooManyItemsError,
)
from reasoningbank_langgraph.errors.store import (
    EmbeddingError,
    EmbeddingMismatchError,
    EncryptionKeyError,
    ForkedStoreError,
    InvalidFilterError,
    InvalidOperationError,
    InvalidStoreError,
    InvalidValueError,
    MissingEncryptionKeyError,
    NotOnServerError,
    OperationTypeError,
    StoreClosedError,
    StoreCorruptedError,
    StoreError,
    StoreLockedError,
    StorePathError,
    StoreSchemaError,
    StoreSettingError,
    StoreUnavailableError,
    UnencryptedBankError,
    WrongEncryptionKeyError,
)

__all__ = [
    "AdapterError",
    "AmbiguousNamespaceLabelError",
    "BlankFieldError",
    "BusyBankError",
    "CachedNodeError",
    "CannotMergeError",
    "DownloadChecksumError",
    "DownloadDiskError",
    "DownloadInterruptedError",
    "DownloadRefusedError",
    "EmbeddingError",
    "EmbeddingMismatchError",
    "EncryptionKeyError",
    "ExperimentError",
    "FieldTooLongError",
    "ForkedStoreError",
    "FrozenBankError",
    "HarvestError",
    "ImportFileError",
    "InvalidFilterError",
    "InvalidMomentError",
    "InvalidNamespaceLabelError",
    "InvalidOperationError",
    "InvalidRecordError",
    "InvalidStoreError",
    "InvalidTaskError",
    "InvalidValueError",
    "JudgeError",
    "MissingDependencyError",
    "MissingEncryptionKeyError",
    "MissingModelError",
    "MissingNamespaceLabelError",
    "MissingStateError",
    "MissingStoreError",
    "ModelCallError",
    "ModelDownloadError",
    "ModelError",
    "ModelServerError",
    "ModelTimeoutError",
    "ModelUnavailableError",
    "NamespaceError",
    "NotAFileError",
    "NotOnServerError",
    "OperationTypeError",
    "PastBankError",
    "ProblemFileError",
    "ReasoningBankError",
    "ScriptError",
    "StoreClosedError",
    "StoreCorruptedError",
    "StoreError",
    "StoreLockedError",
    "StorePathError",
    "StoreSchemaError",
    "StoreSettingError",
    "StoreUnavailableError",
    "TooFewAttemptsError",
    "TooManyItemsError",
    "TrialError",
    "TuneError",
    "UnencryptedBankError",
    "UnknownAttemptError",
    "UnknownBranchError",
    "UnknownModelFileError",
    "UnlearnedProblemsError",
    "UnmeasuredEmbedderError",
    "WrongEncryptionKeyError",
]
