"""The command `reasoningbank` with fakes for the embedder and the model, as a process of its own.

Usage: python -m tests.mcp.served WORDS

With DIES in the environment the process kills itself at that step of learning. A model, an embedder and a library that
print are part of the test.
"""

import os
import subprocess
import sys

from reasoningbank_langgraph import embeddings, store
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel
from tests.loop_fakes import lessons
from tests.redistil_crash_child import DyingStore, steps


class Talkative(HashEmbeddings):
    def embed_query(self, text):
        sys.stdout.write("a library prints\n")
        subprocess.run(["echo", "a process prints"], check=True)
        return super().embed_query(text)


class AsyncDyingStore(DyingStore):
    async def abatch(self, ops):
        return self.batch(ops)


def reply(messages):
    steps.come("call")
    sys.stdout.write("a model prints\n")
    return lessons("one", "two")


if __name__ == "__main__":
    embeddings.default_embeddings = Talkative
    chosen = model_choice.ResolvedModel(ScriptedChatModel(reply), "a scripted model")
    model_choice.resolve_model = lambda *_, **__: chosen
    store.ChromaStore = AsyncDyingStore
    steps.begin(os.environ.get("DIES"))
    sys.argv[0] = "reasoningbank"
    app()
