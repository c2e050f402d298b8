"""Filters of any shape: an answer or a named error, whatever a caller puts in, however deep the stack is."""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langgraph.store.base import SearchOp

from reasoningbank_langgraph.errors import (
    InvalidFilterError,
    InvalidOperationError,
    InvalidValueError,
    StoreCorruptedError,
)
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.filters import check_filter, matches, needed_parts, sure_opening
from reasoningbank_langgraph.store.row_layout import StoredRow, entry_of
from reasoningbank_langgraph.store.values import DEPTH_CAP, decode_fields, decode_value, encode_value
from reasoningbank_langgraph.testing import HashEmbeddings

HERE = ("a",)


def nested(depth, wrap):
    thing = 1
    for _ in range(depth):
        thing = wrap(thing)
    return thing


WRAPS = {
    "dict": lambda inner: {"y": inner},
    "list": lambda inner: [inner],
    "tuple": lambda inner: (inner,),
    "equal": lambda inner: {"$eq": [inner]},
    "both": lambda inner: [{"y": inner}],
}
TOO_DEEP = [1_000, pytest.param(100_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("depth", TOO_DEEP)
def test_a_filter_deeper_than_any_value_is_refused(store, wrap, depth):
    store.put(HERE, "k", {"x": {"y": 1}})
    with pytest.raises(InvalidFilterError, match=f"at most {DEPTH_CAP} deep"):
        store.search(HERE, filter={"x": nested(depth, wrap)})


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(['"', "\\", "\ud83d\ude00", "😀"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, derandomize=True)
@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.data())
def test_whatever_meets_a_filter_has_the_parts_that_are_looked_for_first(value, data):
    text = encode_value("k", value).text
    stored = decode_value("k", text)
    for field in stored:
        condition = {field: data.draw(st.sampled_from([stored[field], "", "a"]))}
        if matches(stored, condition):
            assert all(part in text for part in needed_parts(condition))
        opening = sure_opening(condition)
        assert opening is None or not text.startswith(opening) or matches(stored, condition)


@pytest.mark.parametrize(
    ("value", "is_met"),
    [
        ({"x": "1", "y": 2}, True),
        ({"y": 2, "x": "1"}, True),
        ({"x": "1"}, True),
        ({"x": "12"}, False),
        ({"x": '1"'}, False),
        ({"y": {"x": "1"}}, False),
        ({"y": '{"x":"1"}'}, False),
    ],
)
def test_one_field_is_met_wherever_it_stands_and_only_by_all_of_it(store, value, is_met):
    store.put(HERE, "k", value)
    assert bool(store.search(HERE, filter={"x": "1"})) is is_met


@settings(max_examples=200, derandomize=True)
@given(st.dictionaries(st.text(max_size=1), JSON, max_size=4), st.lists(st.text(max_size=1), max_size=4))
@example({"a": "\ud800", "b": 1}, ["b", "\ud800"])
@example({"a": 1, "b": nested(DEPTH_CAP - 1, WRAPS["list"])}, ["a"])
def test_fields_that_are_read_alone_are_those_of_the_whole_value(value, fields):
    text, stored = encode_value("k", value)
    assert decode_fields("k", text, tuple(fields)) == {field: stored[field] for field in fields if field in stored}


def test_a_filter_that_holds_itself_is_refused():
    ring: list[object] = []
    ring += [ring, ring]
    knot: dict[str, object] = {}
    knot |= {"one": knot, "two": [knot, ring]}
    for condition in ({"x": ring}, {"x": knot}, {"x": {"$ne": ring}}, knot):
        with pytest.raises(InvalidFilterError, match="deep"):
            check_filter(condition)


def test_a_filter_with_one_part_many_times_over_is_read_once():
    shared = nested(100, lambda inner: [inner, inner])
    check_filter({"x": shared})
    assert not matches({"x": [[1, 1], [1, 1]]}, {"x": shared})


def deep_in_the_stack(levels, call):
    return deep_in_the_stack(levels - 1, call) if levels else call()


@pytest.mark.parametrize("wrap", [WRAPS["dict"], WRAPS["list"], WRAPS["both"]], ids=["dict", "list", "both"])
@pytest.mark.parametrize("operator", [None, "$eq"])
def test_the_deepest_value_is_found_by_its_like_with_little_stack_left(wrap, operator):
    depth = (DEPTH_CAP - 10) // (2 if wrap is WRAPS["both"] else 1)
    value, other = nested(depth, wrap), nested(depth - 1, wrap)
    condition = {"x": {operator: value} if operator else value}

    def answers():
        check_filter(condition)
        return [matches({"x": found}, condition) for found in (value, other, wrap(value))]

    assert deep_in_the_stack(800, answers) == [True, False, False]


def test_what_a_filter_equals_exactly_is_taken_as_it_stands():
    assert matches({"x": {"a": [1, 2]}}, {"x": {"$eq": {"a": (1, 2)}}})
    assert not matches({"x": {"a": [1, 2], "b": 1}}, {"x": {"$eq": {"a": [1, 2]}}})
    assert matches({"x": {"a": [1, 2], "b": 1}}, {"x": {"a": [1, 2]}})
    check_filter({"x": {"$eq": {"$like": 1}}})
    assert matches({"x": {"$like": 1}}, {"x": {"$eq": {"$like": 1}}})
    assert not matches({"x": {"$like": 1}}, {"x": {"$ne": {"$like": 1}}})


@pytest.mark.parametrize(
    "condition",
    [
        {"x": {"$in": list(range(100_000))}},
        {"x": {"$eq": 1, nested(5_000, lambda inner: (inner,)): 2}},
        {nested(5_000, lambda inner: (inner,)): 1},
        {"$" * 10**6: 1},
        {"x": {"$" + "y" * 10**6: 1}},
        {"x": np.zeros(3)},
        {"x": [{1, 2}]},
        [("x", 1)],
    ],
    ids=["list", "operator", "field", "long field", "long operator", "array", "set", "pairs"],
)
def test_a_filter_of_another_shape_is_refused_in_a_short_message(condition):
    with pytest.raises(InvalidFilterError) as caught:
        check_filter(condition)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("field", ["", "a.b", "\ud800", "n\x00l", "x" * 10**6, "[*]", "__class__"])
def test_any_text_is_the_name_of_a_field(store, field):
    store.put(HERE, "k", {field: "v"})
    store.put(HERE, "other", {"x": "v"})
    assert [item.key for item in store.search(HERE, filter={field: "v"})] == ["k"]


@pytest.mark.parametrize("depth", TOO_DEEP)
@pytest.mark.parametrize("wrap", [WRAPS["dict"], WRAPS["list"], WRAPS["tuple"]], ids=["dict", "list", "tuple"])
def test_a_value_nested_too_deep_is_refused(store, depth, wrap):
    with pytest.raises(InvalidValueError):
        store.put(HERE, "k", {"x": nested(depth, wrap)})
    assert store.search(HERE) == []


def test_rows_nested_too_deep_are_named_when_read():
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(StoreCorruptedError):
        decode_value("r", f'{{"x": {deep}}}')
    with pytest.raises(StoreCorruptedError):
        entry_of(StoredRow("r-0", {"head": deep, "row": "item", "token": "t", "expires": 0}, json.dumps({}), None))


@pytest.mark.parametrize("limit", [-1, 1 << 64, 1.5, None, "10", nested(5_000, lambda inner: [inner])])
def test_a_limit_that_is_no_count_is_refused(store, limit):
    for op in (SearchOp(HERE, limit=limit), SearchOp(HERE, offset=limit)):
        with pytest.raises(InvalidOperationError, match=r"limit|offset"):
            store.batch([op])


def test_a_text_of_any_length_is_found_by_a_filter_also_through_chromas_index(folder):
    long = "x" * 60_000
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings(), cache_bytes=1) as store:
        store.put(("a",), "k", {"text": long}, index=False)
        store.put(("a",), "other", {"text": f"{long}y"}, index=False)
        assert [item.key for item in store.search(("a",), filter={"text": long})] == ["k"]
