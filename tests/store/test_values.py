"""Values that JSON cannot hold are refused before anything is written."""

import math
from datetime import datetime

import pytest
from langgraph.store.base import InvalidNamespaceError, ListNamespacesOp, PutOp

from reasoningbank_langgraph.errors import InvalidOperationError, InvalidValueError, OperationTypeError

HERE = ("a",)


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"x": value}
    return value


def circular():
    value = {}
    value["x"] = [value]
    return value


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"n": math.nan},
        lambda: {"n": [math.inf]},
        lambda: {"s": {1, 2}},
        lambda: {"b": b"bytes"},
        lambda: {"d": datetime(2020, 1, 1)},
        lambda: {"o": object()},
        lambda: {1: "number"},
        lambda: {"deep": [{None: 1}]},
        lambda: {"deep": ({True: 1},)},
        lambda: {("t",): 1},
        lambda: {"n": 10**5000},
        lambda: nested(250),
        lambda: nested(100_000),
        circular,
        lambda: [1, 2],
        lambda: "text",
        lambda: 7,
    ],
    ids=range(17),
)
def test_a_value_that_is_no_json_object_is_named_and_nothing_is_written(store, make):
    with pytest.raises(InvalidValueError, match="nothing was written") as caught:
        store.batch([PutOp(HERE, "good", {"n": 1}), PutOp(HERE, "bad", make())])
    assert isinstance(caught.value, ValueError)
    assert caught.value.key == "bad"
    assert store.search(HERE) == []
    assert store.verify().rows == 0


def test_tuples_come_back_as_lists_and_floats_exactly(store):
    store.put(HERE, "k", {"t": (1, (2,)), "f": 0.1 + 0.2, "z": -0.0, "deep": nested(190)})
    assert store.get(HERE, "k").value == {"t": [1, [2]], "f": 0.1 + 0.2, "z": -0.0, "deep": nested(190)}


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.search(HERE, limit=-1),
        lambda store: store.search(HERE, offset=-1),
        lambda store: store.search(HERE, query=7),
        lambda store: store.list_namespaces(limit=-1),
        lambda store: store.list_namespaces(max_depth=0),
        lambda store: store.put(HERE, "k", {}, ttl=-1),
        lambda store: store.put(HERE, "k", {}, ttl=math.nan),
        lambda store: store.put(HERE, "k", {}, index=[1]),
        lambda store: store.put(HERE, "k", {}, index="path"),
        lambda store: store.search(HERE, filter=["n"]),
        lambda store: store.search(HERE, filter={"$and": [{"n": 1}]}),
        lambda store: store.search(HERE, filter={7: 1}),
        lambda store: store.search(HERE, filter={"a": {"b": {"$in": [1]}}}),
        lambda store: store.search("text"),
    ],
    ids=range(14),
)
def test_arguments_that_make_no_sense_are_refused(store, call):
    with pytest.raises(ValueError, match=r".+"):
        call(store)


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.search(HERE, limit="5"),
        lambda store: store.search(HERE, offset=True),
        lambda store: store.list_namespaces(max_depth="3"),
        lambda store: store.list_namespaces(limit=2.0),
        lambda store: store.put(HERE, "k", {}, ttl="5"),
        lambda store: store.put(HERE, "k", {}, ttl=True),
        lambda store: store.put(HERE, "k", {}, index=True),
        lambda store: store.batch(None),
        lambda store: store.batch([ListNamespacesOp(match_conditions=(3,))]),
        lambda store: store.batch([ListNamespacesOp(match_conditions=3)]),
        lambda store: store.stored_vectors(HERE, "k"),
    ],
    ids=range(11),
)
def test_an_argument_of_another_type_is_refused_as_langgraphs_stores_do_and_by_name(store, call):
    with pytest.raises(OperationTypeError, match=r"^.+ is an? .+, got \w+|^.+ is None, False or .+, got \w+") as caught:
        call(store)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


def test_a_key_that_is_no_text_is_stored_as_text_as_in_langgraphs_stores(store):
    store.put(HERE, 3, {"n": 1})
    assert store.get(HERE, "3").value == {"n": 1}


def test_a_text_is_no_prefix_of_namespaces(store):
    with pytest.raises(InvalidNamespaceError, match="a namespace is a tuple of labels, got 'ab'"):
        store.list_namespaces(prefix="ab")


def test_numbers_that_make_no_sense_have_a_named_error(store):
    with pytest.raises(InvalidOperationError, match="limit is from 0 to"):
        store.search(HERE, limit=-1)
