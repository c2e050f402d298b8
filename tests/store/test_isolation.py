"""One tenant never gets what is another's, whatever the names, the filters and the crowd; on a folder and a server.

Each test keeps its tenants below a label of its own, so that one bank serves them all.
"""

import asyncio
import itertools
import logging
import random
from contextlib import suppress
from uuid import uuid4

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp

from reasoningbank_langgraph import MemoryBank, MemoryItem, create_reasoning_bank
from reasoningbank_langgraph.bank.item_values import put
from reasoningbank_langgraph.errors import NamespaceError
from reasoningbank_langgraph.namespaces import Filled, bank_of
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.loop_fakes import learner, solver

LOOK_ALIKES = [
    *("al", "alice", "a", "AL", "al ", " al", "al\n", "al\t", "a_", "a%", "a*", "a?", "%", "_l", "*", "**", "[al]"),
    *("al/x", "al\\", "al'", 'al"', "al:x", "al-x", "ａｌ", "al\u200b", "e\u0301", "\u00e9", "{user_id}", "-1", "None"),
]
WORDS = ["train", "speed", "apples", "ratio", "angle", "price", "tank", "clock", "triangle", "sum", "prime", "digit"]
SERVER = pytest.param("server", marks=pytest.mark.network)


@pytest.fixture(scope="module", params=["folder", SERVER])
def store(request, tmp_path_factory):
    """One bank for the whole file."""
    if request.param == "folder":
        opened = ChromaStore.from_path(tmp_path_factory.mktemp("bank"), embeddings=HashEmbeddings())
    else:
        port = request.getfixturevalue("server_port")
        opened = ChromaStore.from_server(port=port, embeddings=HashEmbeddings(), collection="isolation")
    with opened as store:
        yield store


@pytest.fixture
def top():
    """The label of this test."""
    return uuid4().hex


def lesson(name, task, owner):
    words = {"title": f"of {owner!r}", "description": task, "content": task}
    return MemoryItem(id=name, **words, outcome="success", task=task, experience_id=name, tags=(owner,))


def fill(store, top, tenants, text="the same secret words"):
    """Give every tenant one item under a key of its own and one under a key that all share."""
    store.batch(
        [
            PutOp((top, tenant), key, {"text": text, "owner": tenant, "n": 1})
            for number, tenant in enumerate(tenants)
            for key in (f"own {number}", "shared")
        ]
    )


def owners(found):
    return {item.value["owner"] for item in found if item is not None}


# N1, N2: names that are close to each other


def test_no_tenant_reads_another_by_a_name_that_looks_alike(store, top):
    fill(store, top, LOOK_ALIKES)
    leaks, probes = [], 0
    for tenant in LOOK_ALIKES:
        place = (top, tenant)
        gets = [GetOp(place, f"own {number}") for number in range(len(LOOK_ALIKES))]
        searches = [SearchOp(place, where, 100, 0, query) for where in (None, {"n": 1}) for query in (None, "secret")]
        *items, everything, of_query, filtered, of_both = store.batch([*gets, *searches])
        probes += len(gets) + len(searches) + 2
        found = [[item for item in items if item], everything, of_query, filtered, of_both]
        leaks += [(tenant, other) for some in found for other in owners(some) - {tenant}]
        if tenant != "*":  # in a listing it stands for any label
            leaks += [other for other in store.list_namespaces(prefix=place) if other != place]
            leaks += [other for other in store.list_namespaces(prefix=(top,), suffix=(tenant,)) if other != place]
        assert [len(some) for some in found] == [1, 2, 2, 2, 2]
    assert probes > 1000
    assert leaks == []


def test_no_bank_reads_another_by_a_name_that_looks_alike(store, top):
    banks = {tenant: MemoryBank(store, Filled((top, tenant))) for tenant in LOOK_ALIKES}
    for number, (tenant, bank) in enumerate(banks.items()):
        bank.add([lesson(f"own {number}", "the same secret words", tenant)])
    for number, (tenant, bank) in enumerate(banks.items()):
        found = bank.search("the same secret thing", k=9, max_items=9)
        assert [(memory.item.id, memory.item.tags) for memory in found] == [(f"own {number}", (tenant,))]
        assert [item.id for item in bank.items()] == [f"own {number}"]
        assert bank.totals().items == 1
        assert bank.get(f"own {(number + 1) % len(banks)}") is None


# N4, N5: labels that are none


BAD_IDS = {"None": None, "empty": "", "dot": "jane.doe@example.org", "NUL": "a\x00", "bool": True, "float": 1.5}
BAD_IDS |= {"bytes": b"al", "list": ["al"], "dict": {"id": "al"}}


@pytest.mark.parametrize("label", BAD_IDS.values(), ids=BAD_IDS)
def test_a_label_that_is_none_is_refused_by_store_and_bank_alike(store, top, label):
    for call in (
        lambda: store.put((top, label), "k", {}),
        lambda: store.get((top, label), "k"),
        lambda: store.search((top, label)),
        lambda: store.batch([PutOp((top, label), "k", {})]),
        lambda: asyncio.run(store.asearch((top, label))),
    ):
        with pytest.raises(InvalidNamespaceError):
            call()
    with pytest.raises(NamespaceError):
        MemoryBank(store, (top, label))
    assert store.search((top,)) == []


@pytest.fixture
def graph(store, top):
    """A graph that keeps one bank a user, beside a bank that everybody could fall back to."""
    for namespace in [(top,), (top, "None"), (top, "{user_id}")]:
        MemoryBank(store, Filled(namespace)).add([lesson("shared", "words of a shared bank", "everybody")])
    built = create_reasoning_bank(solver, model=learner(titles=("one",)), namespace=(top, "{user_id}"))
    return built.compile(store=store)


@pytest.mark.parametrize("user", [{}, *({"user_id": value} for value in BAD_IDS.values())], ids=["missing", *BAD_IDS])
def test_a_graph_without_a_usable_user_raises_and_falls_back_to_no_bank(store, top, graph, user):
    before = {(item.namespace, item.key) for item in store.search((top,), limit=100)}
    with pytest.raises(NamespaceError):
        graph.invoke({"task": "words of a shared bank?"}, {"configurable": user})
    with pytest.raises(NamespaceError):
        asyncio.run(graph.ainvoke({"task": "words of a shared bank?"}, {"configurable": user}))
    assert {(item.namespace, item.key) for item in store.search((top,), limit=100)} == before


@pytest.mark.parametrize(("user", "label"), [("{thread_id}", "{thread_id}"), ("{user_id}x", "{user_id}x"), (7, "7")])
def test_a_user_name_is_a_label_and_never_a_template(store, top, graph, user, label):
    result = graph.invoke({"task": "words of a shared bank?"}, {"configurable": {"user_id": user, "thread_id": "t"}})
    assert result["memories"] == []
    found = {item.namespace for item in store.search((top,), limit=100)}
    written = {namespace for namespace in found if bank_of(namespace) == namespace}  # episodes lie beside theirs
    assert written == {(top,), (top, "None"), (top, "{user_id}"), (top, label)}


# N6, Q1 - Q3: filters


ELSEWHERE = [
    *({"namespace": ["al", "bo"]}, {"namespace": "bo"}, {"prefix": "bo"}, {"key": "own 1"}, {"id": "own 1"}),
    *({"owner": "bo"}, {"owner": {"$eq": "bo"}}, {"owner": {"$ne": "al"}}, {"ns_1": "bo"}, {"row": "item"}),
]
HOSTILE_FIELDS = [
    *("a' OR '1'='1", "x') OR '1'='1", "x'; DROP TABLE embeddings; --", 'a"]}}', "a.b.c", "", "a\x00", "__proto__"),
    *("owner\x00", "owner ", "OWNER", "chroma:document", "#document", "*", "%", "k" * 10_000, "\ud800", "{owner}"),
]
REFUSED = [
    *({"$or": [{"owner": "bo"}, {"n": 1}]}, {"$and": [{"n": 1}]}, {"$not": {"n": 1}}, {"$where": "1"}, {"$eq": 1}),
    *({"n": {"$in": []}}, {"n": {"$in": [1]}}, {"n": {"$nin": [1]}}, {"n": {"$where": "1"}}, {"n": {"$contains": 1}}),
    *({"n": {"$gt": 0, "$regex": "."}}, {"n": {"$gt": 0, "x": 1}}, {"deep": {"n": {"$in": [1]}}}, {"n": [{"$in": 1}]}),
    *({"n": {"$": 1}}, {"n": {"$EQ": 1}}, {"n": {"$or": [1]}}, {7: 1}, {None: 1}, ["n"], "n", [("n", 1)]),
]


def answers(store, place, condition):
    """Yield what a search gives: by namespace, by query, asynchronously; None where it is refused."""
    for query, carry_out in itertools.product((None, "secret words"), (store.batch, _abatch(store))):
        answer = None
        with suppress(ValueError):
            (answer,) = carry_out([SearchOp(place, condition, 100, 0, query)])
        yield answer


def _abatch(store):
    return lambda ops: asyncio.run(store.abatch(ops))


@pytest.fixture
def al(store, top):
    fill(store, top, ["al", "bo"])
    return (top, "al")


def test_no_filter_reaches_out_of_its_namespace(store, al):
    for condition in ELSEWHERE:
        assert list(answers(store, al, condition)) == [[]] * 4, condition


def test_a_hostile_field_is_refused_or_matches_nothing(store, al):
    for field, value in itertools.product(HOSTILE_FIELDS, ("al", 1, True, {"$gt": 0}, ["al"], {"x": "al"})):
        assert not any(answers(store, al, {field: value})), (field[:40], value)


@pytest.mark.parametrize("condition", REFUSED, ids=range(len(REFUSED)))
def test_a_filter_that_cannot_be_applied_is_refused(store, al, condition):
    assert list(answers(store, al, condition)) == [None] * 4


def test_no_filter_is_passed_over(store, al):
    bounds = (0, "", "x", True, [], {})
    compared = [{name: bound} for name in ("$eq", "$gt", "$gte", "$lt", "$lte") for bound in bounds]
    for wanted in [0, "", "x", True, [], ["x"], {"x": 1}, *compared]:
        for found in answers(store, al, {"a field that no item has": wanted}):
            assert found == [], wanted
    for condition, count in [({}, 2), ({"n": 1, "owner": "al"}, 2), ({"n": 1, "owner": "bo"}, 0), ({"n": 2}, 0)]:
        assert [len(found) for found in answers(store, al, condition)] == [count] * 4


# N7: the crowd


def test_a_tenant_with_three_items_gets_them_among_a_thousand_closer_ones(store, top):
    question = "the exact question about a train"
    store.batch([PutOp((top, f"crowd {n % 10}"), str(n), {"text": question, "owner": "crowd"}) for n in range(1000)])
    for n in range(3):
        store.put((top, "crowd"), f"mine {n}", {"text": f"unlike number {n}", "owner": "me"})
    for condition in (None, {"owner": "me"}):
        found = store.search((top, "crowd"), query=question, limit=3, filter=condition)
        assert {item.key for item in found} == {"mine 0", "mine 1", "mine 2"}


def test_a_bank_of_three_lessons_finds_them_beside_and_above_a_thousand_closer_ones(store, top):
    crowd = [lesson(f"crowd {n}", f"the exact question about a train {n}", "crowd") for n in range(1000)]
    places = [(top, "me", "below"), *((top, f"m{n}") for n in range(9))]
    rows = [put(item, places[n % 10], "both", carries_task_vector=True) for n, item in enumerate(crowd)]
    store.batch(rows)
    mine = MemoryBank(store, (top, "me"))
    for n in range(3):
        mine.add([lesson(f"mine {n}", f"unlike number {n}", "me")])
    found = mine.search("the exact question about a train", k=3, max_items=3)
    assert {memory.item.id for memory in found} == {"mine 0", "mine 1", "mine 2"}
    assert mine.totals().items == 3


def test_twenty_tenants_never_meet_in_random_queries(store, top, request):
    chance = random.Random(7)
    tenants = [f"t{n}" for n in range(20)]
    texts = [" ".join(chance.choices(WORDS, k=4)) for _ in range(200)]
    store.batch(
        [
            PutOp((top, tenants[n % 20]), str(n), {"text": text, "owner": tenants[n % 20]})
            for n, text in enumerate(texts)
        ]
    )
    each = 10 if "server" in request.node.callspec.id else 50
    foreign = []
    for tenant in tenants:
        queries = [" ".join(chance.choices(WORDS, k=3)) for _ in range(each)]
        for found in store.batch([SearchOp((top, tenant), None, 10, 0, query) for query in queries]):
            foreign += owners(found) - {tenant}
            assert len(found) == 10
    assert foreign == []


# N8, N9: one after the other


def test_the_same_query_gives_each_tenant_its_own(store, top):
    fill(store, top, ["al", "bo"])
    turns = ["al", "bo", "al", "bo"]
    for tenant in turns:
        assert owners(store.search((top, tenant), query="secret words")) == {tenant}
    found = store.batch([SearchOp((top, tenant), query="secret words") for tenant in turns])
    assert [owners(some) for some in found] == [{tenant} for tenant in turns]


def test_emptying_one_tenant_leaves_its_look_alikes(store, top):
    fill(store, top, LOOK_ALIKES)
    keys = ["shared", *(f"own {number}" for number in range(len(LOOK_ALIKES)))]
    store.batch([PutOp((top, "al"), key, None) for key in keys])
    left = store.search((top,), limit=1000)
    assert owners(left) == {*LOOK_ALIKES} - {"al"}
    assert len(left) == 2 * (len(LOOK_ALIKES) - 1)
    assert store.search((top, "al")) == []


def test_neither_errors_nor_logs_tell_what_others_wrote(store, al, caplog):
    caplog.set_level(logging.DEBUG)
    said = []
    for condition in [*REFUSED, *ELSEWHERE]:
        try:
            store.search(al, filter=condition, query="words")
        except ValueError as error:
            said.append(str(error))
    with pytest.raises(InvalidNamespaceError) as caught:
        store.search((*al, "b.o"))
    said += [str(caught.value), caplog.text]
    assert len(said) > 20
    assert not [text for text in said if "the same secret" in text]
