"""ChromaStore: a complete LangGraph store on Chroma. Nothing outside this folder imports chromadb.

- `chroma`: ChromaStore: LangGraph's long-term memory on Chroma
- `without_embedder`: a bank opened without the embedder that made it
- `settings`: the settings of a store
- `lifetime`: how long a store may be used: until it is closed, and only in the process that opened it
- `cipher`: texts encrypted with AES-GCM, and the mark by which a bank knows its key
- `connect`: clients of Chroma: opened so that they send nothing home, closed so that nothing stays open
- `retry`: one call to Chroma: repeated while its server cannot be reached, its errors turned into this package's
- `collection`: the collection that holds a bank, and the one beside it that is prepared to replace it
- `batch`: the operations of a batch, checked and sorted by kind, before anything is read, embedded or written
- `indexing`: which texts of a value are embedded, and the checks on the embedder's answers
- `stored_item`: an item as a search returns it, parsed as far as it is read
- `reading`: the reading operations, answered from memory or from Chroma
- `index_search`: searches in Chroma's index, for banks that others write to and namespaces too large for memory
- `writing`: the writing operations: one upsert a batch, so that a crash leaves all of it or nothing
- `values`: values as JSON text: what goes in comes out equal
- `filters`: search filters: equality and `$eq $ne $gt $gte $lt $lte`
- `namespaces`: namespaces as tuples of labels: matched, listed and counted
- `row_layout`: how an item is laid out in Chroma: one row for each vector, the first of which is the item
- `rows`: the rows of one Chroma collection: in pieces Chroma accepts, always with explicit vectors
- `cache`: what a store keeps in memory, so that a search does not ask Chroma, and its copy on disk
- `folder`: the folder of an embedded bank: its lock, its privacy, its cleaning, and a server for it
- `maintenance`: expired items removed, a bank checked, its vectors made anew
- `chroma_files`: what is known of Chroma's private files: its tables and the files of its index
"""

from reasoningbank_langgraph.store.chroma import ChromaStore
from reasoningbank_langgraph.store.cipher import AESGCMCipher
from reasoningbank_langgraph.store.maintenance.repair import StoreReport
from reasoningbank_langgraph.store.without_embedder import rekey

__all__ = ["AESGCMCipher", "ChromaStore", "StoreReport", "rekey"]
