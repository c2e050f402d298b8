"""A bank whose namespaces are saved when it is closed."""

from langgraph.store.base import PutOp

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.cache.saved_prefixes import ENDING
from reasoningbank_langgraph.testing import HashEmbeddings

HERE, OTHER = ("a", "b"), ("c",)
INDEX = {"embed": HashEmbeddings(16), "fields": ["text", "more"], "dims": 16}


def opened(folder, **settings):
    return ChromaStore.from_path(folder, **{"index": INDEX, **settings})


def fill(store, count=20):
    store.batch([PutOp(HERE, str(n), {"text": f"number {n}", "n": n}) for n in range(count)])
    store.put(HERE, "two", {"text": "number 2", "more": "a second vector", "é": "\ud800"})
    store.put(HERE, "dark", {"text": "unseen"}, index=False)
    store.put(HERE, "paths", {"tags": ["red", "blue"]}, index=["tags[*]"], ttl=10)
    store.put((*HERE, "below"), "k", {"text": "number 7"})
    store.batch([PutOp(OTHER, str(n), {"text": f"other {n}"}) for n in range(8)])


def everything(store, prefix=()):
    items = [(i.namespace, i.key, i.value, i.created_at, i.updated_at) for i in store.search(prefix, limit=1000)]
    scores = {
        (i.namespace, i.key): i.score and round(i.score, 5) for i in store.search(prefix, query="number 7", limit=1000)
    }
    return items, scores, store.search(prefix, query="number 7", filter={"n": {"$gte": 5}}, limit=3)


def saved(folder):
    return sorted(folder.glob(f"*{ENDING}"))
