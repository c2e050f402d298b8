"""ChromaStore: LangGraph's long-term memory on Chroma."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Self, Unpack

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig

from reasoningbank_langgraph.store.batch import Batch, make_batch
from reasoningbank_langgraph.store.cache.collection import cached_collection
from reasoningbank_langgraph.store.cache.saved_prefixes import SavedPrefixes
from reasoningbank_langgraph.store.cipher import BankCipher
from reasoningbank_langgraph.store.collection import COLLECTION, add_sample, check_name, open_or_create
from reasoningbank_langgraph.store.connect import check_client, close_client, is_shared, server_client
from reasoningbank_langgraph.store.folder.opening import open_folder
from reasoningbank_langgraph.store.indexing import NOT_GIVEN, Embedded, Indexing, IndexSetting
from reasoningbank_langgraph.store.lifetime import Lifetime
from reasoningbank_langgraph.store.maintenance.migration import fit_bank, rebuild_bank, reindex_bank, vacuum_bank
from reasoningbank_langgraph.store.maintenance.repair import StoreReport, inspect
from reasoningbank_langgraph.store.maintenance.ttl import Sweeper, sweep
from reasoningbank_langgraph.store.reading import Reader
from reasoningbank_langgraph.store.row_layout import Vector
from reasoningbank_langgraph.store.rows import Rows
from reasoningbank_langgraph.store.settings import GIBIBYTE, Progress, StoreSettings, check_settings
from reasoningbank_langgraph.store.writing import Writer

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


class ChromaStore(BaseStore):
    """A LangGraph store on Chroma: durable, searchable by meaning, usable from threads and from any event loop.

    Make one with `from_path` (a folder, one writer), `from_server` (a Chroma server, many writers) or `from_client`.
    All three take the `StoreSettings`. By default whole values are embedded with the packaged offline model.

    A batch is written whole or not at all, also when the process is killed, up to 5000 items and vectors; larger
    ones go in parts. A cancelled `abatch` may still be carried out. Scores are cosine similarities, 0 to 1.

    Every method raises `StoreClosedError` after `close()`, and `ForkedStoreError` in a child forked since, where
    `close()` leaves the parent's store alone. Writes raise `InvalidValueError`, `EmbeddingError`, LangGraph's
    `InvalidNamespaceError`, or `EmbeddingMismatchError` if the bank has moved, before anything is written.
    """

    supports_ttl = True
    embeds_a_text_once = True  # however often it stands in a batch

    def __init__(self, client: ClientAPI, **settings: Unpack[StoreSettings]) -> None:
        check_client(client)
        self._open(client, lambda: None, None, **check_settings(settings))

    def _open(
        self,
        client: ClientAPI,
        release: Callable[[], None],
        saved: SavedPrefixes | None,
        *,
        index: IndexSetting = NOT_GIVEN,
        embeddings: Embeddings | None = None,
        ttl: TTLConfig | None = None,
        collection: str = COLLECTION,
        cache_bytes: int = GIBIBYTE,
        encryption_key: bytes | None = None,
        reindex: bool | Progress = False,
    ) -> None:
        self.ttl_config, cipher, shared = ttl, BankCipher.of(encryption_key), is_shared(client)
        self._indexing = Indexing.from_settings(index, embeddings).measured()
        rows = Rows(client, open_or_create(client, collection, self._indexing, cipher), cipher)
        self._collection = cached_collection(client, rows, shared=shared, limit=cache_bytes, saved=saved)
        self._reader = Reader(self._collection, ttl)
        self._writer, self._sweeper = Writer(self._collection, self._reader), Sweeper(self.sweep_ttl)
        self._collection.join()
        self._lifetime = Lifetime(self, partial(self._collection.leave, release))
        try:
            fit_bank(self._collection, self._indexing, reindex)
        except BaseException:
            self._lifetime.end()
            raise

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], **settings: Unpack[StoreSettings]) -> Self:
        """Open the bank in a folder, or make it (mode 0700, also where an empty folder or a bank had another).

        Only one store at a time may have the folder open, in this process or any other. Do not open a folder
        that someone else made: Chroma's files are trusted input. An index that a kill cut off while Chroma saved it is
        made anew from the documents.

        Args:
            path: the folder; `~` is the home folder.
            settings: see `StoreSettings`; one of another type is a `StoreSettingError`.

        Raises:
            StorePathError: the path cannot hold a bank; nothing was changed.
            StoreLockedError: another store has it open; raised at once.
            EmbeddingMismatchError: the bank was made with another embedder.
            EncryptionKeyError: the key does not fit the bank; nothing was written.
            StoreCorruptedError: the folder holds something that is no bank.
            StoreSchemaError: the bank was made by a newer version; nothing was written.
        """
        key = BankCipher.of(check_settings(settings).get("encryption_key"))
        folder = open_folder(path, settings.get("collection", COLLECTION), key)
        store = cls._owning(folder.client, settings, folder.release, folder.saved)
        if folder.torn:
            store.rebuild_index()
        return store

    @classmethod
    def from_server(
        cls,
        host: str = "127.0.0.1",
        port: int = 8000,
        *,
        ssl: bool = False,
        headers: Mapping[str, str] | None = None,
        tenant: str = "default_tenant",
        database: str = "default_database",
        **settings: Unpack[StoreSettings],
    ) -> Self:
        """Use the bank on a Chroma server (`chroma run`, `reasoningbank bank serve`), which several processes write to.

        A request that does not reach the server is repeated for about ten seconds, so a quick restart goes unnoticed;
        an answer may take a minute. Chroma Cloud takes its key as a header: `from_server("api.trychroma.com", 443,
        ssl=True, tenant=..., database=..., headers={"x-chroma-token": key})`; its quota of 300 rows a request suits
        small banks only.

        Args:
            host: name or address of the server.
            port: its port.
            ssl: speak HTTPS.
            headers: sent with every request, for example a token.
            tenant: Chroma's tenant, which must exist.
            database: Chroma's database, which must exist.
            settings: see `StoreSettings`; one of another type is a `StoreSettingError`.

        Raises:
            StoreUnavailableError: the server does not answer, is no Chroma server, refuses the headers, or knows no
                such tenant or database.
            EmbeddingMismatchError: the bank was made with another embedder.
        """
        check_settings(settings)
        client = server_client(host, port, ssl=ssl, headers=headers, tenant=tenant, database=database)
        return cls._owning(client, settings, partial(close_client, client))

    @classmethod
    def from_client(cls, client: ClientAPI, **settings: Unpack[StoreSettings]) -> Self:
        """Use a client you made; `close()` leaves it open.

        A client on a folder must be of the only process that writes there: what others write is not noticed.

        Args:
            client: a synchronous chromadb client.
            settings: see `StoreSettings`; one of another type is a `StoreSettingError`.

        Raises:
            TypeError: it is no such client.
            EmbeddingMismatchError: the bank was made with another embedder.
        """
        return cls(client, **settings)

    @classmethod
    def _owning(
        cls, client: ClientAPI, settings: StoreSettings, release: Callable[[], None], saved: SavedPrefixes | None = None
    ) -> Self:
        store = cls.__new__(cls)
        try:
            store._open(client, release, saved, **settings)  # noqa: SLF001 - what `__init__` does, for a client of ours
        except BaseException:
            release()
            raise
        return store

    @property
    def embeddings(self) -> Embeddings | None:
        """The embedder, None for a store without vectors."""
        return self._indexing.embeddings

    @property
    def index_config(self) -> IndexConfig | None:
        """What is embedded and how, as LangGraph describes it; None for a store without vectors."""
        return self._indexing.config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: reads first, on the state before the batch, then writes; results in their order."""
        self._lifetime.check()
        batch = make_batch(ops, indexing := self._indexing)
        return self._carry_out(batch, indexing.embed(batch.documents, batch.queries), indexing)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what `batch` does without blocking the event loop."""
        self._lifetime.check()
        batch = make_batch(ops, indexing := self._indexing)
        embedded = await indexing.aembed(batch.documents, batch.queries)
        return await asyncio.to_thread(self._carry_out, batch, embedded, indexing)

    def stored_vectors(self, namespace: tuple[str, ...], keys: Iterable[str]) -> dict[str, list[Vector]]:
        """Return the vectors of items by key, a numpy array for each embedded text; items without any are left out."""
        self._lifetime.check()
        return self._reader.vectors(namespace, keys)

    def sweep_ttl(self) -> int:
        """Delete the items that have expired; returns how many."""
        self._lifetime.check()
        return sweep(self._collection, self._writer)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Delete expired items regularly, by default at the `sweep_interval_minutes` of `ttl` or every 5 minutes.

        The future ends when the sweeper does; cancelling it stops the sweeper. Without `ttl` it is already done.
        """
        self._lifetime.check()
        return self._sweeper.start(sweep_interval_minutes, self.ttl_config)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the sweeper; returns False if it did not end within `timeout` seconds."""
        return self._sweeper.stop(timeout)

    def verify(self) -> StoreReport:
        """Check the whole bank against itself and against Chroma's index."""
        self._lifetime.check()
        with self._collection.writing:
            return inspect(self._collection)

    def rebuild_index(self) -> None:
        """Make all vectors and the index anew from the documents, for example after the index files were lost.

        A crash leaves either the old bank or the new one, whole. No other process may write meanwhile.
        """
        self._lifetime.check()
        rebuild_bank(self._collection, self._indexing)

    def reindex(self, embeddings: Embeddings, progress: Progress | None = None) -> None:
        """Move the bank to another embedder, with the same fields; as safe as `rebuild_index`.

        If a kill or an error of the embedder stops the move, the bank keeps the old embedder and may be changed; the
        next call with the same embedder continues the move. `vacuum` and `rebuild_index` drop an unfinished one.

        Args:
            embeddings: the new embedder.
            progress: called with the items done and the items in all, at the start and after every 256 items.
        """
        self._lifetime.check()
        reindex_bank(self._collection, moved := self._indexing.moved_to(embeddings), progress)
        self._indexing = moved

    def vacuum(self) -> None:
        """Remove all traces of deleted and replaced items from the bank's files, where Chroma keeps them.

        Writes the bank anew, without its embedder; reads may have to wait. A crash leaves a whole bank: call it again.
        Close the store afterwards: until then Chroma may write what is in memory into new index files. Backups, and
        what the disk keeps of removed files, are beyond it.

        Raises:
            NotOnServerError: the files belong to a server.
            StoreError: the bank is damaged, see `verify()`, or the disk is full; the bank is as it was.
        """
        self._lifetime.check()
        vacuum_bank(self._collection, self._indexing)

    def close(self) -> None:
        """Let go of the folder or connection. What was written is on disk already; a second call does nothing."""
        if self._lifetime.is_over:
            return
        self._sweeper.stop(None)
        with self._collection.writing:
            self._lifetime.end()

    def __enter__(self) -> Self:
        self._lifetime.check()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.close)

    def _carry_out(self, batch: Batch, embedded: Embedded, indexing: Indexing) -> list[Result]:
        self._lifetime.check()
        try:
            check_name(self._collection.rows.collection, indexing)
            reads = self._reader.read(batch, embedded.queries)
            self._writer.refresh(reads.to_refresh(batch))
            if batch.changes:
                with self._collection.writing:
                    if embedded.documents:
                        add_sample(self._collection.rows.collection, indexing)
                    self._writer.commit(list(batch.changes.values()), embedded.documents)
        except Exception:
            self._lifetime.check()  # another thread closed it: raise that, not the error that Chroma made of it
            raise
        return reads.results(batch.size)
