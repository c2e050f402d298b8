"""What is kept beside Chroma for a quick first search is true or not used, and keeps nothing that was deleted."""

import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import StoreError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store import rows as chroma_rows
from reasoningbank_langgraph.store.cache import saved_prefixes
from reasoningbank_langgraph.store.cache.saved_prefixes import ENDING, LIST
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.store.processes import run, start

HERE, OTHER = ("a", "b"), ("c",)
INDEX = {"embed": HashEmbeddings(16), "fields": ["text", "more"], "dims": 16}


@pytest.fixture(autouse=True)
def small_prefixes_are_saved(monkeypatch):
    monkeypatch.setattr(saved_prefixes, "FROM_ITEMS", 5)


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


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A bank to copy, and what a search of everything answered before it was closed."""
    bank = tmp_path_factory.mktemp("searched") / "bank"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(saved_prefixes, "FROM_ITEMS", 5)
        with opened(bank) as store:
            fill(store)
            answer = everything(store)
    assert len(saved(bank)) == 1
    return bank, answer


@pytest.fixture
def filled(folder, searched):
    """A bank that was searched and closed; what a search of everything answered."""
    bank, answer = searched
    shutil.copytree(bank, folder)
    return answer


@pytest.fixture
def reads(monkeypatch):
    """The rows read from Chroma so far, by a search or to make memory."""
    read = []
    scan = chroma_rows.Rows.scan

    def counted(rows, where, **parts):
        read.append(where)
        return scan(rows, where, **parts)

    monkeypatch.setattr(chroma_rows.Rows, "scan", counted)
    return read


def test_the_next_store_answers_the_same_without_reading_rows(folder, filled, reads):
    for _ in range(2):
        with opened(folder) as store:
            assert everything(store) == filled
            assert everything(store, HERE)[0] == [item for item in filled[0] if item[0][:2] == HERE]
            assert store.get(HERE, "two").value["é"] == "\ud800"
            assert reads == []
            assert store.verify().ok
        reads.clear()
        assert (len(saved(folder)), (folder / LIST).exists()) == (1, True)


def test_each_namespace_searched_for_itself_is_kept_for_itself(folder, reads):
    with opened(folder) as store:
        fill(store)
        answers = [everything(store, prefix) for prefix in (HERE, OTHER)]
    assert len(saved(folder)) == 2
    reads.clear()
    with opened(folder) as store:
        assert [everything(store, prefix) for prefix in (HERE, OTHER)] == answers
        assert reads == []
        everything(store)
        assert reads != []
    assert len(saved(folder)) <= 3


def test_a_bank_without_vectors_is_kept_too(folder, reads):
    with opened(folder, index=None) as store:
        fill(store)
        before = everything(store)
    with opened(folder, index=None) as store:
        reads.clear()
        assert everything(store) == before
        assert reads == []


CHANGES = {
    "put": lambda store: store.put(HERE, "new", {"text": "number 7 anew"}),
    "overwrite": lambda store: store.put(HERE, "7", {"text": "now another"}),
    "fewer vectors": lambda store: store.put(HERE, "two", {"text": "number 2"}),
    "delete": lambda store: store.delete(HERE, "7"),
    "refresh": lambda store: store.get(HERE, "paths", refresh_ttl=True),
    "batch": lambda store: store.batch([PutOp(OTHER, "9", {"text": "x"}), PutOp(HERE, "3", None)]),
    "no vector": lambda store: store.put(HERE, "7", {"text": "number 7"}, index=False),
    "deeper": lambda store: store.put((*HERE, "below", "deeper"), "k", {"text": "number 7"}),
    "most": lambda store: store.batch([PutOp(HERE, str(n), {"text": f"again {n}"}) for n in range(19)]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_in_the_answers_at_once_and_in_what_is_kept(folder, filled, change, reads):
    with opened(folder) as store:
        change(store)
        changed = everything(store)
        assert store.verify().ok
    reads.clear()
    with opened(folder) as store:
        assert everything(store) == changed
        assert reads == []
        assert store.verify().ok
    for path in [*saved(folder), folder / LIST]:
        path.unlink()
    with opened(folder) as store:
        assert everything(store)[:2] == changed[:2]


def test_a_failed_write_leaves_nothing_trusted(folder, filled, monkeypatch):
    with opened(folder) as store:
        monkeypatch.setattr(chroma_rows.Rows, "upsert", lambda *_: (_ for _ in ()).throw(StoreError("no")))
        with pytest.raises(StoreError):
            store.put(HERE, "k", {"text": "x"})
        monkeypatch.undo()
        assert saved(folder) == []
        assert everything(store) == filled


@pytest.mark.parametrize("work", ["vacuum", "rebuild_index", "reindex"])
def test_a_bank_made_anew_keeps_nothing_of_before(folder, filled, work):
    with opened(folder) as store:
        getattr(store, work)(*[HashEmbeddings(16)] * (work == "reindex"))
        assert saved(folder) == []
        assert everything(store) == filled
    with opened(folder) as store:
        assert everything(store) == filled
        assert store.verify().ok


def damaged(path, damage):
    data = path.read_bytes()
    path.write_bytes(damage(data))


def flipped(at):
    return lambda data: data[: at % len(data)] + bytes([data[at % len(data)] ^ 0x41]) + data[at % len(data) + 1 :]


DAMAGES = {
    "empty": lambda data: b"",
    **{f"cut at {part}": lambda data, part=part: data[: int(len(data) * part)] for part in (0.3, 0.9)},
    "one byte short": lambda data: data[:-1],
    "one byte more": lambda data: data + b"x",
    **{f"bit flipped at {at}": flipped(at) for at in (0, 500, -400, -1)},
    "zeros": lambda data: bytes(len(data)),
    "other text": lambda data: b"0" * 8 + b"[]",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("which", ["file", "list"])
def test_a_damaged_file_is_not_used_and_written_anew(folder, filled, which, damage, reads):
    (file,) = saved(folder)
    damaged(file if which == "file" else folder / LIST, damage)
    with opened(folder) as store:
        assert everything(store) == filled
        assert reads != []
        assert store.verify().ok
    reads.clear()
    with opened(folder) as store:
        assert everything(store) == filled
        assert reads == []
    assert file not in saved(folder)


def test_every_byte_of_a_file_is_looked_at_but_the_filling_between_its_sections(folder, filled):
    (file,) = saved(folder)
    whole = file.read_bytes()
    ((_, _, (start, size, _)),) = json.loads((folder / LIST).read_bytes()[8:])["regions"]
    places = [(place, length) for place, length, _ in json.loads(whole[start:])["sections"].values()]
    looked_at = {at for place, length in [*places, (start, size)] for at in range(place, place + length)}
    for at in sorted({*range(0, len(whole), 37), *(place for place, _ in places), len(whole) - 1}):
        file.write_bytes(flipped(at)(whole))
        used = list(saved_prefixes.SavedPrefixes(folder, "reasoningbank").prefixes(16))
        assert bool(used) == (at not in looked_at), at


def test_files_of_another_bank_are_not_used(folder, filled, tmp_path):
    with opened(tmp_path / "other") as store:
        store.batch([PutOp(HERE, str(n), {"text": f"foreign {n}"}) for n in range(32)])
        everything(store)
    for path in [*saved(folder), folder / LIST]:
        path.unlink()
    for path in [*saved(tmp_path / "other"), tmp_path / "other" / LIST]:
        shutil.copy(path, folder)
    with opened(folder) as store:
        assert everything(store) == filled


def test_a_file_of_an_earlier_state_is_not_used(folder, filled, tmp_path):
    old = [*saved(folder), folder / LIST]
    for path in old:
        shutil.copy(path, tmp_path)
    with opened(folder) as store:
        store.put(HERE, "7", {"text": "now another"})
        changed = everything(store)
    (new,) = saved(folder)
    shutil.copy(tmp_path / LIST, folder)
    shutil.copy(tmp_path / old[0].name, folder)
    with opened(folder) as store:
        assert everything(store) == changed
    shutil.copy(tmp_path / old[0].name, saved(folder)[0])
    with opened(folder) as store:
        assert everything(store) == changed
    assert new not in saved(folder)


def test_what_another_program_wrote_through_chroma_is_seen(folder, filled):
    import chromadb

    client = chromadb.PersistentClient(str(folder), settings=chromadb.Settings(anonymized_telemetry=False))
    with ChromaStore.from_client(client, index=INDEX) as store:
        store.delete(HERE, "7")
        changed = everything(store)
    client.close()
    with opened(folder) as store:
        assert everything(store) == changed
        assert store.verify().ok


def test_a_copy_of_a_bank_that_went_on_otherwise_is_told_from_it(folder, filled, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    answers = []
    for place in (folder, copy):
        with opened(place) as store:
            store.put(HERE, "7", {"text": f"of {place.name}"})
            answers.append(everything(store))
    for path in [*saved(copy), copy / LIST]:
        shutil.copy(path, folder)
    with opened(folder) as store:
        assert everything(store) == answers[0]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "link to a folder"])
def test_what_stands_in_the_place_of_a_file_is_neither_followed_nor_written_to(folder, filled, tmp_path, kind):
    outside = tmp_path / "outside"
    (file,) = saved(folder)
    shutil.copy(file, outside)
    before = outside.read_bytes()
    for path in (file, folder / LIST):
        path.unlink()
        {
            "link": lambda path: path.symlink_to(outside),
            "folder": Path.mkdir,
            "pipe": os.mkfifo,
            "link to a folder": lambda path: path.symlink_to(tmp_path),
        }[kind](path)
    with opened(folder) as store:
        assert everything(store) == filled
        store.put(HERE, "later", {"text": "x"})
    assert outside.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bank", "outside"]
    with opened(folder) as store:
        assert store.get(HERE, "later") is not None


def test_a_full_disk_harms_nothing(folder, filled, monkeypatch, caplog):
    def no_room(*_):
        raise OSError(28, "No space left on device")

    with opened(folder) as store:
        store.put(HERE, "7", {"text": "now another"})
        changed = everything(store)
        monkeypatch.setattr(saved_prefixes, "write_prefix", no_room)
    monkeypatch.undo()
    monkeypatch.setattr(saved_prefixes, "FROM_ITEMS", 5)
    assert "could not be saved" in caplog.text
    assert (saved(folder), (folder / LIST).exists()) == ([], False)
    with opened(folder) as store:
        assert everything(store) == changed
        monkeypatch.setattr(saved_prefixes, "_write_list", no_room)
    assert saved(folder) == []
    with opened(folder) as store:
        assert everything(store) == changed


def traces(folder, *secrets):
    data = b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    return [secret for secret in secrets if secret in data]


def test_no_deleted_text_or_vector_is_left_after_closing_in_what_is_kept_nor_anywhere_after_a_vacuum(folder):
    with opened(folder) as store:
        fill(store)
        store.put(("gone", "nsmarker"), "keymarker", {"text": "valuemarker of many words that no other has"})
        everything(store)
        vector = np.asarray(
            store._collection.cache.prefixes()[0][1].get(("gone", "nsmarker")).matrix.view().rows
        ).tobytes()
    secrets = (b"nsmarker", b"keymarker", b"valuemarker", vector)
    (before,) = saved(folder)
    assert all(secret in before.read_bytes() for secret in secrets)
    with opened(folder) as store:
        store.delete(("gone", "nsmarker"), "keymarker")
        everything(store)
    (after,) = saved(folder)
    assert [secret for secret in secrets if secret in after.read_bytes()] == []
    with opened(folder) as store:
        everything(store)
        store.vacuum()
        assert traces(folder, *secrets) == []
        everything(store)
    assert traces(folder, *secrets) == []


def test_verify_finds_what_is_kept_and_differs(folder, filled, monkeypatch):
    from reasoningbank_langgraph.store.cache import prefix_file

    with opened(folder) as store:
        everything(store)
        store.put(HERE, "3", {"text": "number 3"})
        cached = store._collection.cache.prefixes()[0][1].get(HERE)
        cached.drop("7", 10**6)
        cached.items["4"].entry = prefix_file.CachedItem(cached.items["5"].entry).entry
        rows = np.array(cached.matrix.view().rows)
        rows[8] = rows[9]
        cached.matrix._rows = rows
    with opened(folder) as store:
        report = store.verify()
        assert (report.ok, report.differing) == (False, 3)
        store.rebuild_index()
        assert store.verify().ok
        assert everything(store)[1].keys() == filled[1].keys()


KILLED = """
from reasoningbank_langgraph.store.cache import saved_prefixes
from reasoningbank_langgraph.store.cache import prefix_file
saved_prefixes.FROM_ITEMS = 5
index = {"embed": HashEmbeddings(16), "fields": ["text", "more"], "dims": 16}
folder, where = sys.argv[1:]

def dying(call, after):
    def wrapped(*arguments):
        nonlocal after
        after -= 1
        if after < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments)
    return wrapped

store = ChromaStore.from_path(folder, index=index)
store.put(("a", "b"), "7", {"text": "now another"})
len(store.search((), query="number 7"))
if where == "writing":
    store.put(("a", "b"), "8", {"text": "now another"})
    os.kill(os.getpid(), signal.SIGKILL)
elif where == "list":
    saved_prefixes._write_list = dying(saved_prefixes._write_list, 0)
elif where == "after":
    saved_prefixes.SavedPrefixes._clean = dying(saved_prefixes.SavedPrefixes._clean, 0)
else:
    prefix_file._Sections.add = dying(prefix_file._Sections.add, int(where))
store.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    ["writing", "0", "1", "3", "5", "7", "list", "after"],
)
def test_a_kill_at_any_step_leaves_the_truth_and_nothing_besides(folder, filled, where):
    with start(KILLED, folder, where) as process:
        assert process.wait() == -signal.SIGKILL
    with opened(folder) as store:
        assert store.get(HERE, "7").value == {"text": "now another"}
        found = everything(store)
        assert found[1].keys() == filled[1].keys()
        assert next(item for item in found[0] if item[:2] == (HERE, "7"))[2] == {"text": "now another"}
        assert store.verify().ok
    assert len(saved(folder)) == 1
    assert json.loads((folder / LIST).read_bytes()[8:])["regions"][0][1] == saved(folder)[0].name


@pytest.mark.slow
def test_a_process_that_never_closes_keeps_nothing_wrong(folder, filled):
    program = """
index = {"embed": HashEmbeddings(16), "fields": ["text", "more"], "dims": 16}
store = ChromaStore.from_path(sys.argv[1], index=index)
store.delete(("a", "b"), "7")
sys.exit(0)
"""
    run(program, folder)
    with opened(folder) as store:
        assert store.get(HERE, "7") is None
        assert (HERE, "7") not in everything(store)[1]


def test_files_are_for_their_owner_alone(folder, filled):
    assert {path.stat().st_mode & 0o777 for path in [*saved(folder), folder / LIST]} == {0o600}


def test_files_of_the_user_with_like_names_are_left_alone(folder, filled):
    mine = [folder / name for name in ("regions.json", "north.region", f"mine{ENDING}", f"{'0' * 31}g{ENDING}")]
    for path in mine:
        path.write_text("mine")
    with opened(folder) as store:
        store.put(HERE, "7", {"text": "now another"})
        store.vacuum()
    assert [path.read_text() for path in mine] == ["mine"] * 4
