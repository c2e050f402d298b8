"""A bank is readable by its owner alone, and nothing that is not the bank's is ever changed."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from reasoningbank_langgraph.errors import StorePathError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.chroma_files import index_folders
from tests.killed import run_forked
from tests.store.processes import PREAMBLE

HERE = ("a",)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def made(path, given):
    path.mkdir()
    path.chmod(given)
    return path


@pytest.mark.parametrize("given", [0o777, 0o755, 0o770, 0o704, 0o1777, 0o2775])
def test_an_empty_folder_becomes_private(tmp_path, embeddings, given):
    folder = made(tmp_path / "bank", given)
    with ChromaStore.from_path(folder, embeddings=embeddings):
        assert mode(folder) & 0o777 == 0o700
        assert {path.name: mode(path) for path in folder.iterdir()} == {"chroma.sqlite3": 0o600, "writer.lock": 0o600}


def test_a_bank_that_others_could_read_becomes_private_with_every_file_in_it(folder, embeddings):
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.put(HERE, "k", {"text": "x"})
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o777)
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        assert store.search(HERE, query="x")[0].key == "k"
        assert len(index_folders(folder)) == 1
        assert {mode(path) & 0o077 for path in [folder, *folder.rglob("*")]} == {0}


@pytest.mark.parametrize("given", [0o755, 0o1777])
def test_no_bank_is_made_among_other_things_where_others_may_look(tmp_path, embeddings, given):
    folder = made(tmp_path / "home", given)
    (folder / "letter.txt").write_text("mine")
    (folder / "letter.txt").chmod(0o644)
    with pytest.raises(StorePathError, match=r"letter\.txt.*name a folder inside it"):
        ChromaStore.from_path(folder, embeddings=embeddings)
    assert (mode(folder), mode(folder / "letter.txt"), list(folder.iterdir())) == (
        given,
        0o644,
        [folder / "letter.txt"],
    )
    with ChromaStore.from_path(folder / "bank", embeddings=embeddings):
        assert (mode(folder), mode(folder / "bank")) == (given, 0o700)


def test_among_other_things_in_a_private_folder_a_bank_is_made(tmp_path, embeddings):
    folder = made(tmp_path / "private", 0o700)
    (folder / "letter.txt").write_text("mine")
    (folder / "letter.txt").chmod(0o644)
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.put(HERE, "k", {"text": "x"})
    assert mode(folder / "letter.txt") == 0o644


def test_a_bank_among_other_things_is_opened_with_a_warning_and_only_its_own_files_are_changed(
    folder, embeddings, caplog
):
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.put(HERE, "k", {"text": "x"})
    (folder / "letter.txt").write_text("mine")
    shutil.copy(folder / "letter.txt", folder / "chroma.sqlite3.bak")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        assert store.get(HERE, "k") is not None
    assert "may be used by others (mode 0755)" in caplog.text
    assert (mode(folder), mode(folder / "letter.txt"), mode(folder / "chroma.sqlite3.bak")) == (0o755, 0o755, 0o755)
    assert mode(folder / "chroma.sqlite3") == 0o700
    assert {mode(path) for path in index_folders(folder)} == {0o700}


def test_what_links_out_of_a_bank_is_not_changed(folder, embeddings, tmp_path):
    with ChromaStore.from_path(folder, embeddings=embeddings):
        pass
    outside = tmp_path / "outside"
    outside.write_text("mine")
    outside.chmod(0o644)
    (folder / "chroma.sqlite3-shm").symlink_to(outside)
    folder.chmod(0o755)
    with ChromaStore.from_path(folder, embeddings=embeddings):
        assert (mode(folder), mode(outside)) == (0o700, 0o644)


OF_ANOTHER = """
if os.getuid() != 0:
    say("this takes root")
    sys.exit()
from reasoningbank_langgraph.errors import StorePathError
from reasoningbank_langgraph.store.folder.privacy import make_private
from pathlib import Path
folder = Path(sys.argv[1])
os.chmod(folder, 0o777)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    make_private(folder, folder)
    say("taken")
except StorePathError as error:
    say(error)
"""


@pytest.mark.slow
def test_an_open_folder_of_another_user_holds_no_new_bank():
    with tempfile.TemporaryDirectory() as outside:
        Path(outside).chmod(0o755)
        folder = Path(outside) / "theirs"
        folder.mkdir()
        _, said = run_forked(PREAMBLE + OF_ANOTHER, folder)
        if said.strip() == "this takes root":
            pytest.skip(said)
        assert "belongs to another user" in said
        assert mode(folder) == 0o777
