"""An encrypted bank, and what is found in its files."""

import hashlib
import json
from base64 import b64encode

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

KEY, NEW_KEY = bytes(range(32)), bytes(range(16))
INDEX = {"embed": HashEmbeddings(16), "fields": ["text", "more"]}
HERE = ("a", "b")


def opened(folder, key=KEY, **settings):
    return ChromaStore.from_path(folder, **{"index": INDEX, "encryption_key": key, **settings})


def forms(text):
    """Yield the forms that a file may hold a text in."""
    for word in (text, text.lower(), text.upper()):
        escaped = json.dumps(word)[1:-1]
        for form in {word, escaped, json.dumps(escaped)[1:-1]}:
            yield form.encode()
            yield form.encode("utf-16-le")
            yield form.encode("utf-16-be")
            for before in range(3):
                yield b64encode(bytes(before) + form.encode()).rstrip(b"=")[before + 1 : -1]


def traces(folder, texts):
    """Return the texts that the files of a folder hold in any form."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return [text for text in texts if any(form in data for form in forms(text) for data in files)]


def contents(folder):
    """Return a digest of each file."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
