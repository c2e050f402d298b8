"""Values that JSON cannot hold are refused before anything is written."""

import math
from datetime import datetime

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import InvalidOperationError, InvalidValueError

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


def test_numbers_that_make_no_sense_have_a_named_error(store):
    with pytest.raises(InvalidOperationError, match="limit and offset"):
        store.search(HERE, limit=-1)
