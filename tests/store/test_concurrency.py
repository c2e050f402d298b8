"""Many threads, tasks and processes on one bank: nothing lost, nothing torn, one owner of a folder."""

import asyncio
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import uuid4

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.store import ChromaStore
from tests.store.processes import needs_fork, run, start

HERE = ("a",)
MANY = 100_000


def found_alike(store, namespace=HERE):
    """Return the keys in a namespace, which have to be the same with and without a query."""
    listed = [item.key for item in store.search(namespace, limit=MANY)]
    queried = [item.key for item in store.search(namespace, query="number", limit=MANY)]
    assert sorted(listed) == sorted(queried)
    assert len(set(listed)) == len(listed)
    return set(listed)


@pytest.mark.slow
def test_sixteen_threads_write_and_search_past_the_size_at_which_chroma_makes_index_files(store):
    def write(writer):
        names = [[f"{writer} {uuid4()}" for _ in range(5)] for _ in range(13)]
        for some in names:
            store.batch([PutOp(HERE, name, {"text": f"number {name}"}) for name in some])
            assert store.search(HERE, query=f"number {some[0]}", limit=1)
        return [name for some in names for name in some]

    with ThreadPoolExecutor(16) as pool:
        written = {name for names in pool.map(write, range(16)) for name in names}
    assert len(written) == 1040
    assert found_alike(store) == written
    assert store.verify().ok


async def longest_pause(work):
    """Return the seconds the loop was away at most while something ran."""
    longest = 0.0

    async def beat():
        nonlocal longest
        while True:
            started = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - started - 0.01)

    heart = asyncio.create_task(beat())
    await work
    heart.cancel()
    return longest


async def test_two_hundred_calls_at_once_leave_the_loop_responsive(store):
    pauses = []
    while not pauses or (min(pauses) > 0.5 and len(pauses) < 10):  # a busy machine stops the loop once, a block always
        puts = (store.aput(HERE, f"{len(pauses)} {n}", {"text": f"number {n}"}) for n in range(100))
        searches = (store.asearch(HERE, query=f"number {n}", limit=5) for n in range(100))
        pauses.append(await longest_pause(asyncio.gather(*puts, *searches)))
    assert min(pauses) < 0.5, pauses
    assert found_alike(store) == {f"{turn} {n}" for turn in range(len(pauses)) for n in range(100)}


TOGETHER = """
import chromadb.api.fastapi, chromadb.api.rust  # once, before the forks: they take seconds and start no thread

def together(work):
    # Forks four children that begin at the same moment, and waits until all have ended well or were killed.
    begin, go = os.pipe()
    for number in range(4):
        if os.fork() == 0:
            os.close(go)
            os.read(begin, 1)
            work(number)
            os._exit(0)
    os.close(go)
    ends = {os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4)}
    assert ends <= {0, -signal.SIGKILL}, ends
"""

OWN = """
def own(number):
    try:
        store = ChromaStore.from_path(sys.argv[1], embeddings=HashEmbeddings())
    except StoreError as error:
        return say(type(error).__name__)
    for n in range(30):
        store.put(("a",), str(n), {"text": f"number {n}"})
    say("owner", os.getpid())
    signal.alarm(60)
    signal.pause()
together(own)
"""


@pytest.mark.slow
@needs_fork
def test_of_four_processes_that_start_together_one_gets_the_folder(folder, embeddings):
    with start(TOGETHER + OWN, folder) as process:
        said = sorted(process.stdout.readline().split() for _ in range(4))
        assert [words[0] for words in said] == ["StoreLockedError"] * 3 + ["owner"]
        os.kill(int(said[-1][1]), signal.SIGKILL)
        assert process.wait() == 0
        with ChromaStore.from_path(folder, embeddings=embeddings) as store:
            assert found_alike(store) == {str(n) for n in range(30)}
            assert store.verify().ok


WRITE = """
def write(number):
    port, name = int(sys.argv[1]), sys.argv[2]
    with ChromaStore.from_server(port=port, collection=name, embeddings=HashEmbeddings()) as store:
        for n in range(50):
            store.put(("a",), f"{number} {n}", {"text": f"number {number} {n}"})
    say("done")
together(write)
"""


@pytest.mark.slow
@pytest.mark.network
@needs_fork
def test_four_processes_write_through_a_server(server_port, embeddings):
    name = f"processes-{uuid4().hex}"
    assert run(TOGETHER + WRITE, server_port, name, seconds=300) == ["done"] * 4
    with ChromaStore.from_server(port=server_port, collection=name, embeddings=embeddings) as store:
        assert found_alike(store) == {f"{writer} {n}" for writer in range(4) for n in range(50)}
        assert store.verify().ok


@contextmanager
def pair_in_a_folder(folder, embeddings, **settings):
    with ChromaStore.from_path(folder, embeddings=embeddings, **settings) as store:
        yield store, store


@contextmanager
def pair_on_a_server(port, embeddings):
    name = f"pair-{uuid4().hex}"
    with (
        ChromaStore.from_server(port=port, collection=name, embeddings=embeddings) as writer,
        ChromaStore.from_server(port=port, collection=name, embeddings=embeddings) as reader,
    ):
        yield writer, reader


@pytest.fixture(
    params=[
        "in memory",
        pytest.param("in Chroma", marks=pytest.mark.slow),
        pytest.param("on a server", marks=pytest.mark.network),
    ]
)
def pair(request, folder, embeddings):
    """A store to write with and a store to read with."""
    if request.param == "on a server":
        opened = pair_on_a_server(request.getfixturevalue("server_port"), embeddings)
    else:
        opened = pair_in_a_folder(folder, embeddings, cache_bytes=1 if request.param == "in Chroma" else 1 << 30)
    with opened as stores:
        yield stores


SIZE, BATCHES, CROWD = 8, 25, 300


def whole_batches(store, query):
    """Return the numbers of the batches a search finds, each of which has to be whole."""
    found = [int(item.key.split()[0]) for item in store.search(HERE, query=query, limit=MANY)]
    counts = {batch: found.count(batch) for batch in set(found) if batch}
    assert set(counts.values()) <= {SIZE}
    return counts.keys()


def test_a_reader_sees_whole_batches_and_every_acknowledged_one(pair):
    writer, reader = pair
    writer.batch([PutOp((*HERE, "crowd"), f"0 {n}", {"text": f"number {n}"}) for n in range(CROWD)])
    acknowledged, early = 0, 0

    def write():
        nonlocal acknowledged
        for batch in range(1, BATCHES + 1):
            writer.batch([PutOp(HERE, f"{batch} {n}", {"text": f"number {batch} {n}"}) for n in range(SIZE)])
            acknowledged = batch

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            for query in (None, "number"):
                before = acknowledged
                seen = whole_batches(reader, query)
                assert set(range(1, before + 1)) <= seen
                early += len(seen) < BATCHES
        writing.result()
    assert whole_batches(reader, "number") == set(range(1, BATCHES + 1))
    assert early > 1
