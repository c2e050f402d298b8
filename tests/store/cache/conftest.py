"""Fixtures for the tests of saved prefixes."""

import shutil

import pytest

from reasoningbank_langgraph.store import rows as chroma_rows
from reasoningbank_langgraph.store.cache import saved_prefixes
from tests.store.cache.saved_bank import everything, fill, opened, saved


@pytest.fixture
def small_prefixes_are_saved(monkeypatch):
    monkeypatch.setattr(saved_prefixes, "FROM_ITEMS", 5)


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
