"""A row that another client removes while it is read is no damaged index; one that stays missing is."""

import pytest
from chromadb.errors import InternalError

from reasoningbank_langgraph.errors import StoreCorruptedError
from reasoningbank_langgraph.store import retry

MISSING = "Error executing plan: Internal error: Error finding id"


def failing(times):
    """A call that fails so often, and how often it was made."""
    made = []

    def call():
        made.append(1)
        if len(made) <= times:
            raise InternalError(MISSING)
        return "rows"

    return call, made


def test_a_row_that_is_being_removed_is_read_again():
    call, made = failing(2)
    assert retry.call_chroma(call) == "rows"
    assert len(made) == 3


def test_a_row_that_stays_missing_is_a_damaged_index_with_the_way_out(monkeypatch):
    monkeypatch.setattr(retry, "BEING_REMOVED", 0.1)
    call, made = failing(1_000)
    with pytest.raises(StoreCorruptedError, match=r"Error finding id; rebuild_index\(\) makes the index anew"):
        retry.call_chroma(call)
    assert 1 < len(made) < 10
