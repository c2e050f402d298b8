"""ChromaStore: a complete LangGraph store on Chroma. Nothing outside this folder imports chromadb.

- `chroma`: ChromaStore: LangGraph's long-term memory on Chroma
- `settings`: settings every way of opening a store takes
- `connect`: clients of Chroma: made so that they send nothing home, closed so that nothing stays open
- `collection`: the collection that holds a bank, and the one beside it that is made to take its place
- `lock`: the folder of an embedded bank and the lock that keeps it to one writer
- `batch`: a batch, checked and sorted by kind, before anything is read, embedded or written
- `reading`: the reading ops, answered from memory or from Chroma alike
- `index_search`: items straight from Chroma, for banks that others write to and namespaces too large for memory
- `writing`: the writing ops. A batch reaches Chroma in one upsert, so after a crash it is there whole or not at all
- `indexing`: how values become vectors: which texts of a value are embedded, and the embedder's answers checked
- `values`: values as JSON text: what goes in comes out equal
- `row_layout`: how an item lies in Chroma: one row a vector, the first of which is the item
- `rows`: access to one Chroma collection: in pieces Chroma accepts, always with explicit vectors, with named errors
- `filters`: search filters: field equality and `$eq $ne $gt $gte $lt $lte`
- `namespaces`: namespaces: segment by segment, never as joined text
- `cache`: what a store keeps in memory, so that a search does not ask Chroma, and its copy on disk
- `retry`: one call to Chroma: repeated for a while when its server cannot be reached, and what it raises named
- `ttl`: expired items removed, once or regularly in the background
- `repair`: checking a bank against itself
- `migration`: a bank made anew in a second collection, which then takes the place of the first
- `folder`: what Chroma leaves in the folder of a bank: index folders nobody uses, and texts that were deleted
- `leftovers`: what a crash or a change-over leaves behind in an embedded bank, and Chroma does not remove
- `purge`: the program that works on a bank's database beside the client that has it open. Run as a file
- `privacy`: a bank's folder and files are for their owner alone: 0700 and 0600, also where they were there before
- `saved_index`: whether an index that Chroma saved is whole
- `database_state`: what a bank's database says about its last change
- `serving`: a bank's folder behind a Chroma server in this very process
"""

from reasoningbank_langgraph.store.chroma import ChromaStore
from reasoningbank_langgraph.store.repair import StoreReport

__all__ = ["ChromaStore", "StoreReport"]
