"""Which rollouts see the memory: all, none, a half, or those that are needed because the others disagree."""

import json

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from reasoningbank_langgraph import MemoryItem, ReferenceJudge, Scaling, create_matts
from reasoningbank_langgraph.matts.with_and_without import without_memory
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import indexed_memory, learner, lessons
from tests.matts_fakes import CONFIG, TASK, bank, fails_once, judged_by, matts, solving

GATED = {"memory": "on_disagreement", "k": 5}
LESSON = "look for what is asked"


@pytest.fixture
def store():
    """A bank with one lesson of another task."""
    filled = indexed_memory()
    lesson = {"title": LESSON, "description": "d", "content": "c", "outcome": "success"}
    bank(filled).add([MemoryItem(**lesson, task="add three apples", experience_id="e")])
    filled.embeddings.calls.clear()
    return filled


def shown(solve):
    """By number: whether the solver of each rollout found lessons in its state."""
    return {
        number: bool(state["memory_prompt"] and state["memories"])
        for number, *_, state in sorted(solve.inner.seen, key=lambda call: call[0])
    }


def events_of(graph, task=TASK):
    return list(graph.stream(task, CONFIG, stream_mode="custom"))


def test_by_default_every_rollout_sees_the_memory_and_says_so(store):
    solve = solving("4")
    result = matts(solve, store, k=3).invoke(TASK, CONFIG)
    assert shown(solve) == {0: True, 1: True, 2: True}
    (lesson,) = [item.id for item in bank(store).items() if item.title == LESSON]
    assert [rollout["shown"] for rollout in result["rollouts"]] == [[lesson]] * 3
    assert result["selection"]["comparison"] is None


@pytest.mark.parametrize("mode", ["parallel", "sequential", "both"])
def test_with_none_no_lesson_is_looked_up_and_lessons_are_still_learned(store, mode):
    solve = solving("4")
    graph = matts(solve, store, k=2, mode=mode, memory="none")
    events = events_of(graph)
    assert not any(shown(solve).values())
    assert "retrieved" not in {event["event"] for event in events}
    assert len(bank(store).items()) > 1
    assert graph.get_state(CONFIG).values["memory_error"] is None


@pytest.mark.parametrize(("k", "without"), [(2, 1), (3, 2), (4, 2), (5, 3)])
def test_half_of_the_rollouts_run_without_memory_and_the_odd_one_too(store, k, without):
    solve = solving("4")
    result = matts(solve, store, k=k, memory="half").invoke(TASK, CONFIG)
    seen = shown(solve)
    assert list(seen.values()).count(False) == without
    assert [bool(rollout["shown"]) for rollout in result["rollouts"]] == list(seen.values())
    assert {number for number, saw in seen.items() if not saw} == without_memory(" Add two  apples", k)


def test_the_half_is_drawn_anew_for_each_task_and_no_number_is_favoured():
    drawn = [without_memory(f"task {number}", 4) for number in range(400)]
    counts = [sum(number in half for half in drawn) for number in range(4)]
    assert all(160 < count < 240 for count in counts)
    assert drawn == [without_memory(f"task {number}", 4) for number in range(400)]


def test_where_the_first_rollouts_agree_the_rest_and_the_memory_are_not_needed(store):
    solve = solving("4", "4.0", "4")
    events = events_of(graph := matts(solve, store, learn=False, **GATED))
    result = graph.get_state(CONFIG).values
    assert shown(solve) == {0: False, 1: False, 2: False}
    assert store.embeddings.calls == []
    assert "retrieved" not in {event["event"] for event in events}
    assert result["selection"]["rollouts"] == {"run": 3, "failed": 0, "skipped": 2, "ended": "agreed"}
    assert (result["answer"], result["memories"], result["memory_prompt"]) == ("4", [], "")
    assert events[-1]["skipped"] == 2


def test_where_they_disagree_the_rest_runs_with_memory_and_joins_the_vote(store):
    solve = solving("5", "4", "5", "4", "4")
    events = events_of(graph := matts(solve, store, learn=False, **GATED))
    result = graph.get_state(CONFIG).values
    assert shown(solve) == {0: False, 1: False, 2: False, 3: True, 4: True}
    assert [event["event"] for event in events if event["event"] != "judged"] == [
        *["rollout"] * 3,
        "retrieved",
        *["rollout"] * 2,
        "selected",
    ]
    assert [bool(event["ids"]) for event in events if event["event"] == "rollout"].count(True) == 2
    assert (result["answer"], result["selection"]["by"]) == ("4", "majority")
    assert result["selection"]["rollouts"]["ended"] == "all"
    assert result["attempt"]["task"] == TASK["task"]


@pytest.mark.parametrize(
    ("answers", "options", "agreed"),
    [
        (("4", "4", "5"), {}, False),
        (("4", "4", "5"), {"agreement": 2 / 3}, True),
        (("4", "4"), {"unaided": 2}, True),
        (("4", "5"), {"unaided": 2, "agreement": 0.5}, False),
        (("4", "4", "5", "5"), {"unaided": 4, "agreement": 0.5}, False),
        (("4", "4", ValueError("boom")), {}, False),
        (("4", "4", ValueError("boom")), {"agreement": 0.6}, True),
        (("4", ValueError("boom")), {"unaided": 2, "agreement": 0.5, "min_attempts": 2}, False),
        (("4", "4", ""), {}, False),
        (("I don't know",), {}, False),
        ((ValueError("boom"), ValueError("boom"), ValueError("boom"), "4", "4"), {}, False),
        (("4",), {"stop_after": 5}, True),
        (("4",), {"max_concurrency": 1}, True),
        (("4",), {"max_concurrency": 2}, True),
        (("4",), {"mode": "both", "checks": 0}, True),
        (("4",), {"select": "model"}, True),
    ],
)
def test_agreement_is_a_share_of_the_first_rollouts_with_the_same_answer(store, answers, options, agreed):
    solve = solving(*answers)
    result = matts(solve, store, learn=False, **GATED, **options).invoke(TASK, CONFIG)
    first = options.get("unaided", 3)
    assert len(result["rollouts"]) == (first if agreed else 5)
    assert (result["selection"]["rollouts"]["ended"] == "agreed") is agreed
    assert list(shown(solve).values()) == [False] * first + [True] * (0 if agreed else 5 - first)


@pytest.mark.parametrize("right", ["4", "5"])
def test_what_an_oracle_says_is_no_agreement_and_no_disagreement(store, right):
    options = {"judge": ReferenceJudge(), "learn": False, **GATED}
    agreed = matts(solving("4"), store, **options).invoke({**TASK, "reference": right}, CONFIG)
    split = matts(solving("4", "4", "5"), store, **options).invoke({**TASK, "reference": right}, CONFIG)
    assert [len(result["rollouts"]) for result in (agreed, split)] == [3, 5]


def test_with_stop_after_a_verifier_may_settle_it_before_the_memory_is_needed(store):
    solve = solving("5", "4")
    result = matts(solve, store, judge=judged_by("4"), stop_after=1, **GATED).invoke(TASK, CONFIG)
    assert result["selection"]["rollouts"]["ended"] == "accepted"
    assert not any(shown(solve).values())


@pytest.mark.parametrize("memory", ["half", "on_disagreement"])
async def test_it_is_the_same_in_async_code(store, memory):
    async def solve(state):
        return {"answer": "with" if state["memory_prompt"] else str(len(answers.pop()))}

    answers = ["a", "ab", "abc"]
    options = {"k": 5, "max_concurrency": 1, "memory": memory, "learn": False}
    result = await matts(solve, store, **options).ainvoke(TASK, CONFIG)
    assert [bool(rollout["shown"]) for rollout in result["rollouts"]].count(True) == 2
    assert result["answer"] == "with"


def test_the_tokens_of_rollouts_that_were_spared_are_estimated_and_counted(store):
    def solve(state):
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        return {"messages": [AIMessage("4", usage_metadata=usage)]}

    graph = matts(solve, store, learn=False, model=None, **GATED)
    selected = events_of(graph)[-1]
    assert graph.get_state(CONFIG).values["selection"]["tokens"] == {"used": 45, "saved": 30}
    assert (selected["skipped"], selected["estimated_tokens_saved"]) == (2, 30)


@pytest.mark.parametrize("reference", [None, "4"])
def test_right_and_wrong_with_and_without_the_lessons_are_counted(store, reference):
    judge = judged_by("4") if reference is None else ReferenceJudge()
    answers = ("5", "4", "5", "4", ValueError("boom"))
    graph = matts(solving(*answers), store, judge=judge, **GATED)
    events = events_of(graph, {**TASK, "reference": reference})
    (selected,) = [event for event in events if event["event"] == "selected"]
    found = graph.get_state(CONFIG).values["selection"]["comparison"]
    assert found == selected["comparison"] == json.loads(json.dumps(found))
    (lesson,) = [item.id for item in bank(store).items() if item.title == LESSON]
    assert found == {"ids": [lesson], "right_with": 1, "wrong_with": 0, "right_without": 1, "wrong_without": 2}


def test_verdicts_that_say_nothing_compare_nothing(store):
    model = ScriptedChatModel(lambda messages: lessons("x") if "You teach" in messages[0].text else "hm")
    result = matts(solving("4", "5"), store, model=model, **GATED).invoke(TASK, CONFIG)
    assert {rollout["verdict"]["status"] for rollout in result["rollouts"]} == {"indeterminate"}
    assert result["selection"]["comparison"] is None


def test_a_lesson_of_a_group_knows_the_lessons_that_any_rollout_was_shown(store):
    result = matts(solving("5", "4", "5", "4", "4"), store, judge=judged_by("4"), **GATED).invoke(TASK, CONFIG)
    (first,) = [item.id for item in bank(store).items() if item.title == LESSON]
    learned = [item for item in bank(store).items() if item.id in result["written"]]
    assert learned
    assert {item.provenance.memory_ids_used for item in learned} == {(first,)}


def test_an_empty_bank_leaves_rollouts_without_lessons_and_the_vote(store):
    solve = solving("5", "4", "5", "4", "4")
    result = matts(solve, indexed_memory(), **GATED).invoke(TASK, CONFIG)
    assert len(result["rollouts"]) == 5
    assert not any(shown(solve).values())
    assert result["selection"]["comparison"] is None


def test_lessons_of_the_task_itself_are_not_shown_though_they_are_looked_up_late(store):
    task = {**TASK, "task_id": "mine"}
    graph = matts(solving("4"), store, k=1)
    graph.invoke(task, {"configurable": {"thread_id": "other"}})
    solve = solving("5", "4", "5", "4", "4")
    result = matts(solve, store, **GATED).invoke({**task, "task": "add two more apples"}, CONFIG)
    assert [memory["item"]["title"] for memory in result["memories"]] == [LESSON]


def test_each_task_of_a_thread_begins_without_the_memory_of_the_last_one(store):
    saver, solve = InMemorySaver(), solving("5", "4", "5", "4", "4")
    matts(solve, store, saver, **GATED).invoke(TASK, CONFIG)
    again = solving("4")
    result = matts(again, store, saver, **GATED).invoke({"task": "add nine pears"}, CONFIG)
    assert (shown(again), len(result["rollouts"])) == ({0: False, 1: False, 2: False}, 3)
    assert result["memories"] == []


@pytest.mark.parametrize("failing", ["gather", "retrieve"])
def test_a_run_broken_off_between_the_waves_decides_alike_and_repeats_no_rollout(store, failing):
    solve = solving("5", "4", "5", "4", "4")
    builder = create_matts(solve, model=learner(), **GATED)
    fails_once(builder, failing)
    graph = builder.compile(checkpointer=InMemorySaver(), store=store)
    with pytest.raises(RuntimeError, match="power cut"):
        graph.invoke(TASK, CONFIG)
    assert sorted(solve.inner.calls) == [0, 1, 2]
    result = graph.invoke(None, CONFIG)
    assert set(solve.inner.calls.values()) == {1}
    assert list(shown(solve).values()) == [False, False, False, True, True]
    assert {item.id for item in bank(store).items()} > set(result["written"])


@pytest.mark.parametrize("step", ["begin", "rollout", "gather", "retrieve", "select"])
def test_a_replay_from_any_old_checkpoint_adds_nothing(store, step):
    graph = matts(solving("5", "4", "5", "4", "4"), store, model=learner(repeats=True), **GATED)
    first = graph.invoke(TASK, CONFIG)
    before = bank(store).items()
    past = next(state for state in graph.get_state_history(CONFIG) if step in state.next)
    again = graph.invoke(None, past.config)
    assert bank(store).items() == before
    assert again["written"] == first["written"]
    assert [bool(rollout["shown"]) for rollout in again["rollouts"]] == [False, False, False, True, True]


def test_a_rollout_that_asks_does_not_bring_the_memory_forward(store):
    def solve(state):
        return {"answer": "with" if state["memory_prompt"] else interrupt("how many?")}

    graph = matts(solve, store, learn=False, **GATED)
    asked = graph.invoke(TASK, CONFIG)["__interrupt__"]
    assert len(asked) == 3
    assert graph.get_state(CONFIG).values["memories"] == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"memory": "some"}, "memory must be"),
        ({"memory": "half", "mode": "sequential"}, "mode='parallel'"),
        ({"memory": "half", "k": 1}, "k of at least 2"),
        ({"memory": "on_disagreement", "mode": "sequential", "k": 5}, "mode='parallel'"),
        ({"memory": "on_disagreement", "k": 2}, "k of at least 3"),
        ({"memory": "on_disagreement", "unaided": 1}, "unaided must be a whole number of at least 2"),
        ({"memory": "on_disagreement", "unaided": 3, "k": 3}, "leaves no rollout"),
        ({"memory": "on_disagreement", "unaided": 2.5}, "unaided"),
        ({"memory": "on_disagreement", "min_attempts": 3}, "min_attempts is 3"),
        ({"memory": "on_disagreement", "agreement": 0}, "agreement"),
        ({"memory": "on_disagreement", "agreement": 1.5}, "agreement"),
        ({"memory": "on_disagreement", "agreement": True}, "agreement"),
        ({"unaided": 2}, "needs memory='on_disagreement'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        Scaling(**options)
