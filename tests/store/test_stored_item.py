"""What a search returns is a SearchItem of LangGraph's, although its value is parsed when it is read."""

import copy
import pickle

import pytest
from langgraph.store.base import SearchItem

HERE = ("a",)


@pytest.fixture
def found(store):
    store.put(HERE, "k", {"text": "pears", "n": [1]})
    return lambda **question: store.search(HERE, **question)[0]


@pytest.mark.parametrize(
    "question", [{}, {"filter": {"text": "pears"}}, {"query": "pears"}], ids=["all", "filter", "query"]
)
def test_it_equals_a_search_item_with_all_of_it(found, store, question):
    item, kept = found(**question), store.get(HERE, "k")
    whole = SearchItem(HERE, "k", {"text": "pears", "n": [1]}, kept.created_at, kept.updated_at, item.score)
    for same in (
        item,
        found(**question),
        copy.deepcopy(found(**question)),
        pickle.loads(pickle.dumps(found(**question))),
    ):
        assert same == whole
        assert same.dict() == whole.dict()
        assert repr(same) == repr(whole)


def test_what_is_done_to_its_value_stays_with_it_and_reaches_no_other(found):
    item = found()
    item.value["n"].append(2)
    assert item.value["n"] == [1, 2]
    assert found().value["n"] == [1]


def test_it_has_no_other_attributes(found):
    with pytest.raises(AttributeError, match="colour"):
        _ = found().colour


def test_some_fields_are_read_as_they_are_stored(found):
    assert found().fields(("n", "colour")) == {"n": [1]}
