"""Saved prefixes that are damaged, foreign, of an earlier state or no files are not used."""

import json
import os
import shutil
from pathlib import Path

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.cache import saved_prefixes
from reasoningbank_langgraph.store.cache.saved_prefixes import LIST
from tests.store.cache.saved_bank import HERE, INDEX, everything, opened, saved

pytestmark = pytest.mark.usefixtures("small_prefixes_are_saved")


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
        used = list(saved_prefixes.SavedPrefixes(folder, "reasoningbank").prefixes(16, None))
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
