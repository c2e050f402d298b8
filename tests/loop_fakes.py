"""Fakes shared by the tests of the loop: a solver, a scripted model and stores that need no network."""

import itertools
import json
from contextlib import contextmanager

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel


def verdict(status="success", rationale="checked"):
    return json.dumps({"rationale": rationale, "status": status, "confidence": 0.9})


def lessons(*titles, way=0):
    items = [{"title": name, "description": f"When {name}", "content": f"Way {way} to {name}"} for name in titles]
    return json.dumps({"items": items})


def learner(status="success", titles=("check the units", "draw a picture"), *, repeats=False):
    """A model that judges every attempt as `status` and distils lessons with these titles from each."""
    ways = itertools.repeat(0) if repeats else itertools.count()

    def reply(messages):
        judging = "You check whether" in messages[0].text
        return verdict(status) if judging else lessons(*titles, way=next(ways))

    return ScriptedChatModel(reply)


def solver(state):
    return {"answer": f"\\boxed{{{len(state['task'])}}}"}


def indexed_memory():
    return InMemoryStore(index={"dims": 64, "embed": HashEmbeddings(), "fields": ["$"]})


class Sampling(ScriptedChatModel):
    """Knows a temperature and a seed, and keeps what was bound."""

    temperature: float = 0.0
    seed: int | None = None
    bound: list = []

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.bound.append({name: kwargs[name] for name in ("temperature", "seed") if name in kwargs})
        return super()._generate(messages, stop, run_manager, **kwargs)


class Capped(ScriptedChatModel):
    """Knows a cap on its reply, and keeps the one each call was made with."""

    max_tokens: int | None = None
    caps: list = []

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.caps.append(self.max_tokens)
        return super()._generate(messages, stop, run_manager, **kwargs)


USED = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}


class Billed(ScriptedChatModel):
    """Says of each reply that it took as many tokens."""

    def _generate(self, *args, **options):
        result = super()._generate(*args, **options)
        result.generations[0].message.usage_metadata = dict(USED)
        return result


class Tracer(BaseCallbackHandler):
    """Keeps the name and the tags of the calls of models."""

    def __init__(self):
        self.seen = []

    def on_chat_model_start(self, serialized, messages, *, tags=None, name=None, **kwargs):
        self.seen.append((name, tags))


class Switched(BaseStore):
    """A store in memory whose reads and writes can be made to fail, by an exception or by what a function returns."""

    def __init__(self):
        self.inner = indexed_memory()
        self.reads = self.writes = None

    def batch(self, ops):
        ops = list(ops)
        error = self.writes if any(isinstance(op, PutOp) for op in ops) else self.reads
        error = error() if callable(error) else error
        if error:
            raise error
        return self.inner.batch(ops)

    async def abatch(self, ops):
        return self.batch(ops)


@contextmanager
def open_store(kind, path):
    if kind == "memory":
        yield indexed_memory()
    else:
        from reasoningbank_langgraph import ChromaStore

        with ChromaStore.from_path(path, embeddings=HashEmbeddings()) as store:
            yield store
