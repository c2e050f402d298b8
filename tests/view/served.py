"""The page of a bank as a process of its own, with an embedder that needs no model.

Usage: python -m tests.view.served FOLDER NAMESPACE
"""

import sys

from reasoningbank_langgraph import embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import HashEmbeddings

if __name__ == "__main__":
    embeddings.default_embeddings = HashEmbeddings
    sys.argv[:] = ["reasoningbank", "bank", "view", "--bank", sys.argv[1], "--namespace", sys.argv[2]]
    app()
