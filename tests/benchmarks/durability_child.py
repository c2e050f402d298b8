"""What happens in the forked children of the durability run: a writer until it is killed, a check of what it left."""

from __future__ import annotations

import json
import os
import resource
import signal
import traceback
from typing import NamedTuple

import chromadb.api.rust  # noqa: F401 - once, before the forks: it takes seconds and starts no thread
from langgraph.store.base import GetOp

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

from .durability_work import HERE, LESSONS, text_of

MANY = 1_000_000
PATIENCE = 300
"""Seconds after which a child that hangs ends itself."""
LARGEST_FILE = 1 << 28
"""Bytes after which a child that writes on and on ends itself; no bank here comes near."""


class Child(NamedTuple):
    """A forked process and the pipe it speaks through, a line at a time."""

    pid: int
    lines: object

    def end(self):
        """Wait for it; returns what it still said and whether it died by SIGKILL."""
        with self.lines:
            said = [line.rstrip("\n") for line in self.lines if line.endswith("\n")]
        status = os.waitpid(self.pid, 0)[1]
        return said, os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def fork(work, *arguments):
    """Run `work(say, *arguments)` in a child; nothing may have opened a bank in this process before."""
    theirs, ours = os.pipe()
    pid = os.fork()
    if pid:
        os.close(ours)
        return Child(pid, os.fdopen(theirs))
    try:
        signal.alarm(PATIENCE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        os.close(theirs)
        work(lambda line: os.write(ours, f"{line}\n".encode()), *arguments)
    except BaseException:  # noqa: BLE001 - nothing may return into what the parent is doing
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def open_bank(folder, **settings):
    """Open a bank whose items have up to two vectors."""
    return ChromaStore.from_path(folder, index={"embed": HashEmbeddings(), "fields": ["text", "more"]}, **settings)


def write(say, folder, steps, first, last):
    """Take step after step and acknowledge each by its number once it has returned."""
    with open_bank(folder) as store:
        say("ready")
        for number in range(first, last):
            steps(number).run(store, folder.parent)
            say(number)


def reopen(say, folder, steps, first, last):
    """Take each step in a store of its own, after a search of everything; acknowledge it after closing."""
    for number in range(first, last):
        with open_bank(folder) as store:
            if number == first:
                say("ready")
            store.search((), query="old 7")
            steps(number).run(store, folder.parent)
        say(number)


class Finding(NamedTuple):
    """What a kill left of a bank."""

    lost: int
    """Acknowledged items that are not there as they were written."""
    back: int
    """Deleted items that are there."""
    torn: int
    """1 if a part of the step that was killed is there and another part is not."""
    arrived: int
    """1 if that step is there whole, although nobody was told."""
    repaired: int
    """1 if the bank needed `rebuild_index()`."""
    wrong: str
    """What else is not as it should be."""

    @property
    def spoils(self):
        """Whether the bank did not keep its word."""
        return bool(self.lost or self.back or self.torn or self.wrong)


def check(say, folder, known, killed):
    """Say what is left of a bank in which `known` was acknowledged and the changes `killed` were under way."""
    with open_bank(folder) as store:
        first = last = store.verify()
        if not first.ok:
            store.rebuild_index()
            last = store.verify()
        found = {item.key: text_of(item.value) for item in _searched(store)}
        queried = {item.key for item in _searched(store, query="old 7")}
    wrong = [] if last.ok and not last.tombstones else [f"not mended by rebuild_index(): {last}"]
    wrong += [f"a query finds {len(queried)} of {len(found)} items"] * (queried != found.keys())
    wrong += _through_chroma(folder, found, known.keys() | killed.keys())
    say(json.dumps(_compared(found, known, killed)._replace(repaired=int(not first.ok), wrong="; ".join(wrong))))


def _searched(store, query=None):
    """Return what the steps wrote, without the rows of the ledger."""
    return [item for place in (HERE, LESSONS) for item in store.search(place, query=query, limit=MANY)]


def _through_chroma(folder, found, keys):
    """Ask the same without anything in memory, so that Chroma's own index answers."""
    with open_bank(folder, cache_bytes=1) as store:
        queried = {item.key for item in _searched(store, query="old 7")}
        got = store.batch([GetOp(place, key) for key in keys | found.keys() for place in (HERE, LESSONS)])
    read = {item.key: text_of(item.value) for item in got if item}
    wrong = [f"Chroma's index finds {len(queried)} of {len(found)} items"] * (queried != found.keys())
    return wrong + [f"get finds {len(read)} of {len(found)} items"] * (read != found)


def _compared(found, known, killed):
    still = {key: text for key, text in known.items() if key not in killed}
    lost = sum(found.get(key) != text for key, text in still.items())
    back = len(found.keys() - known.keys() - killed.keys())
    news = {key: text for key, text in killed.items() if known.get(key) != text}
    there = sum(found.get(key) == text for key, text in news.items())
    old = sum(found.get(key) == known.get(key) for key in news)
    whole = bool(news) and there == len(news)
    return Finding(lost, back, int(not whole and old < len(news)), int(whole), 0, "")
