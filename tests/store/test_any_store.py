"""The loop, MaTTS, agents and all that a bank does, the same on every kind of store, each behaviour once.

Where the stores differ, docs/how-to/own-store.md says so; what only some have is in `test_sql_stores`.
"""

import json

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import Guard, MemoryBank, ReasoningBankMiddleware, Verdict, create_reasoning_bank
from reasoningbank_langgraph.errors import UnknownAttemptError
from reasoningbank_langgraph.testing import ScriptedToolModel
from tests.flows import make_fail
from tests.loop_fakes import learner
from tests.matts_fakes import judged_by, matts, solving
from tests.postgres import postgres  # noqa: F401 - a fixture
from tests.store.any_store import KINDS, UNRANKED, app, build, ids, lesson, opened, solve, thread

TITLES = ("check the units", "draw a picture")
HOSTILE = 'O\'Hara\0 said "$.x" -- %_ \\u0000 {} \ud800; DROP TABLE store'


@pytest.fixture(scope="module", params=KINDS)
def store(request, tmp_path_factory):
    with opened(request.param, request, tmp_path_factory.mktemp("store")) as store:
        yield store


@pytest.fixture
def place(request):
    """The namespace of a bank of the test's own."""
    return (request.node.originalname,)


@pytest.fixture
def ranks(request):
    return request.node.callspec.params["store"] not in UNRANKED


def test_what_is_learned_on_one_task_is_shown_on_the_most_similar_next_one(store, place, ranks):
    graph = app(store, place)
    rope, cake, next_rope = (
        graph.invoke({"task": task}, thread(task)) for task in ("measure a rope", "bake a cake", "measure a long rope")
    )
    shown = {memory["item"]["id"] for memory in next_rope["memories"]}
    assert shown == set((rope if ranks else cake)["written"])
    assert TITLES[0] in next_rope["memory_prompt"]
    (found, *_) = MemoryBank(store, place).search("measure a longer rope")
    assert (found.score is not None, "no index" in found.why) == (ranks, not ranks)


async def test_asynchronous_runs_learn_and_find_the_same(store, place):
    graph = app(store, place, show="both")
    first = await graph.ainvoke({"task": "measure a rope"}, thread("a"))
    again = await graph.ainvoke({"task": "measure a long rope"}, thread("b"))
    bank = MemoryBank(store, place)
    assert {memory["item"]["id"] for memory in again["memories"]} == set(first["written"])
    assert ids(await bank.aitems()) == ids(bank.items()) == [*first["written"], *again["written"]]
    assert await bank.aforget(thread_id="a", cascade=False) == first["written"]


def test_an_attempt_that_fails_is_resumed_and_replayed_leaves_its_lessons_once(store, place):
    builder = build(place)
    failing = make_fail(builder, "consolidate")
    graph = builder.compile(checkpointer=InMemorySaver(), store=store)
    for given in ({"task": "measure a rope"}, None):
        with pytest.raises(RuntimeError):
            graph.invoke(given, thread())
    written = graph.invoke(None, thread())["written"]
    assert failing.calls == 3
    judged = next(state for state in graph.get_state_history(thread()) if state.next == ("judge",))
    graph.invoke(None, judged.config)
    bank = MemoryBank(store, place)
    assert ids(bank.items()) == written
    assert len(bank.episodes()) == 1
    assert [change.kind for change in bank.log()] == ["added"] * len(bank.log())


def test_a_branch_does_not_see_what_was_learned_on_another_and_the_past_is_read_as_it_was(store, place):
    graph = app(store, place)
    trunk = graph.invoke({"task": "measure a rope"}, thread())["written"]
    fork = graph.get_state(thread())
    other = graph.invoke({"task": "measure a long rope"}, thread())["written"]
    branch = graph.invoke({"task": "measure a longer rope"}, fork.config)
    assert {memory["item"]["id"] for memory in branch["memories"]} == set(trunk)
    bank = MemoryBank(store, place)
    assert ids(bank.as_of(fork).items()) == trunk
    assert sorted(ids(bank.reconcile("t", graph, forget=True))) == sorted(set(other) - set(trunk))
    assert sorted(ids(bank.items())) == sorted(branch["written"])


def test_rollouts_that_disagree_leave_one_contrast_their_episodes_and_credit(store, place):
    MemoryBank(store, place).add([lesson("old", "measure a rope")])
    settings = {"judge": judged_by("5"), "namespace": place, "k": 4, "memory": "half"}
    result = matts(solving("5", "6", "7", "8"), store, **settings).invoke({"task": "measure a long rope"}, thread())
    bank = MemoryBank(store, place)
    assert result["answer"] == "5"
    assert {item.outcome for item in bank.items() if item.id != "old"} == {"contrast"}
    assert sorted(episode.outcome for episode in bank.episodes()) == ["failure", "failure", "failure", "success"]
    assert bank.get("old").utility.used == 2


def test_an_agent_is_shown_lessons_and_its_turns_are_learned_from(store, place):
    call = AIMessage("", tool_calls=[{"name": "measure", "args": {"what": "rope"}, "id": "c1"}])
    model = ScriptedToolModel([call, "3 m", "4 m"])

    def measure(what: str) -> str:
        """Measure it."""
        return f"{what}: 3 m"

    memory = ReasoningBankMiddleware(model=learner(), namespace=place)
    agent = create_agent(model, [measure], middleware=[memory], store=store, checkpointer=InMemorySaver())
    for name, task in (("a", "How long is this rope?"), ("b", "How long is that rope?")):
        agent.invoke({"messages": [("user", task)]}, thread(name))
    assert [TITLES[0] in request[-1].text for request in model.calls] == [False, False, True]
    bank = MemoryBank(store, place)
    assert [episode.task for episode in bank.episodes()] == ["How long is this rope?", "How long is that rope?"]
    assert len(bank.items()) == 4


def test_an_attempt_that_waits_is_learned_from_once(store, place):
    create_reasoning_bank(solve, learn="deferred", namespace=place).compile(store=store).invoke({"task": "measure it"})
    bank = MemoryBank(store, place)
    (pending,) = bank.pending()
    right = Verdict(status="success", confidence=1.0, rationale="thumb up", judge="user")
    done = bank.resolve(pending.id, right, model=learner())
    assert (done.added, ids(bank.episodes()), bank.pending()) == (2, [pending.id], [])
    assert ids(bank.items()) == done.ids
    with pytest.raises(UnknownAttemptError):
        bank.resolve("nobody", right, model=learner())


def test_a_guard_counts_each_task_once_and_switches_off_memory_that_hurts(store, place):
    def hindered(state):
        return {"answer": "wrong" if state["memory_prompt"] else "right"}

    settings = {"guard": Guard(share=0.5, alpha=0.2), "judge": lambda attempt: attempt.answer == "right"}
    built = create_reasoning_bank(hindered, model=learner(), namespace=place, **settings)
    graph = built.compile(checkpointer=InMemorySaver(), store=store)
    for number in range(14):
        graph.invoke({"task": f"add {number} apples and {number} pears"}, thread(str(number)))
    known = MemoryBank(store, place).guard()
    assert (known.state, known.decided_by.broken, known.changes) == ("off", 4, 1)


def test_what_is_forgotten_is_in_no_row_and_the_ledger_names_every_change(store, place):
    graph = app(store, place)
    for name, task in (("a", "measure a rope"), ("b", "measure a long rope")):
        graph.invoke({"task": task}, thread(name))
    bank = MemoryBank(store, place)
    bank.add([lesson("stranger", "bake a cake", tags=("kitchen",))])
    bank.set_status("stranger", "quarantined")
    assert [memory.item.id for memory in bank.search("bake a big cake", where={"tags": "kitchen"})] == []
    bank.set_status("stranger", "active")
    assert [memory.item.id for memory in bank.search("bake a big cake", where={"tags": "kitchen"})] == ["stranger"]
    assert len(bank.forget(thread_id="a")) == 4
    rows = [row for namespace in store.list_namespaces(prefix=place) for row in store.search(namespace, limit=99)]
    assert "rope" not in json.dumps([row.value for row in rows])
    assert [change.kind for change in bank.log()][-4:] == ["added", "quarantined", "released", "forgotten"]
    assert bank.verify_log().ok


def test_hostile_text_stays_text(store, place):
    bank = MemoryBank(store, place)
    bank.add([lesson("a", HOSTILE, title=HOSTILE, tags=("a'b",), scope="$.x")])
    bank.add([lesson("b", "bake a cake")])
    graph = create_reasoning_bank(lambda _: {"answer": HOSTILE}, model=learner(), namespace=place).compile(store=store)
    graph.invoke({"task": f"ask {HOSTILE}"})
    (episode,) = bank.episodes()
    assert "DROP TABLE" in episode.answer
    kept = HOSTILE.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    (found,) = bank.search(f"{HOSTILE}?", where={"tags": "a'b", "scope": "$.x"})
    assert (found.item.id, found.item.title, found.item.task) == ("a", kept, kept)


def test_no_tenant_is_shown_anothers_lessons_or_loses_its_own_among_them(store, place):
    ann, like_ann = MemoryBank(store, (*place, "an_n")), MemoryBank(store, (*place, "anxn"))
    ann.add([lesson("mine", "bake a cake")])
    for number in range(30):
        like_ann.add([lesson(f"theirs {number}", f"measure a rope {number}")])
    MemoryBank(store, (*place, "an_n", "below")).add([lesson("below", "measure a rope")])
    assert [memory.item.id for memory in ann.search("measure a rope", k=9, max_items=9)] == ["mine"]
    assert ids(ann.items()) == ["mine"]
    assert ann.forget_all() == ["mine"]
    assert len(like_ann.items()) == 30
