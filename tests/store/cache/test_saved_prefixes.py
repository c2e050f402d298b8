"""What is kept beside Chroma for a quick first search is true or not used, and keeps nothing that was deleted."""

import json
import signal

import numpy as np
import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import StoreError
from reasoningbank_langgraph.store import rows as chroma_rows
from reasoningbank_langgraph.store.cache import prefix_file, saved_prefixes
from reasoningbank_langgraph.store.cache.saved_prefixes import ENDING, LIST
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.killed import run_forked
from tests.store.cache.saved_bank import HERE, OTHER, everything, fill, opened, saved
from tests.store.processes import PREAMBLE, run

pytestmark = pytest.mark.usefixtures("small_prefixes_are_saved")


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


def test_a_search_makes_only_those_items_of_a_file_that_its_filter_may_want(folder, filled, monkeypatch):
    made, make = [], prefix_file._Loader.__call__
    monkeypatch.setattr(prefix_file._Loader, "__call__", lambda *place: made.append(place) or make(*place))
    with opened(folder) as store:
        assert store.search(HERE, filter={"é": "\ud800"})[0].key == "two"
        assert len(made) == 1
        assert everything(store) == filled
        assert len(made) > 1


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
from reasoningbank_langgraph.store.cache import prefix_file, saved_prefixes
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
@pytest.mark.parametrize("where", ["writing", "0", "1", "3", "5", "7", "list", "after"])
def test_a_kill_at_any_step_leaves_the_truth_and_nothing_besides(folder, filled, where):
    assert run_forked(PREAMBLE + KILLED, folder, where)[0] == -signal.SIGKILL
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
