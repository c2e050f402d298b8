"""A walk begins where the last one over the same checkpointer ended, and nothing is passed over."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from reasoningbank_langgraph.learn import checkpoints, watermark
from reasoningbank_langgraph.namespaces import THREADS, bank_of
from tests.learn.past import EVER, NAMESPACE, Past, ask, chat, config, teacher


@pytest.fixture(params=["memory", "sqlite"])
def past(request, tmp_path, monkeypatch):
    monkeypatch.setattr(watermark, "_OVERLAP", timedelta(0))
    monkeypatch.setattr(checkpoints, "_PAGE", 4)
    if request.param == "memory":
        yield Past()
    else:
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
            yield Past(saver)


def test_the_next_walk_sees_only_what_is_new(past):
    graph = chat(checkpointer=past.saver)
    for number in range(5):
        ask(graph, f"question {number}", thread=f"t{number}")
    assert past.learn().seen == 5
    assert past.learn()[:2] == (0, 0)
    ask(graph, "another question", thread="t1")
    ask(graph, "a question", thread="new")
    coverage = past.learn()
    assert (coverage.threads, coverage.seen, coverage.learned) == (2, 2, 2)


def test_since_begins_earlier_or_later_and_what_it_passes_over_is_not_lost(past):
    graph = chat(checkpointer=past.saver)
    ask(graph, "one", thread="t1")
    between = datetime.now(UTC)
    ask(graph, "two", thread="t2")
    assert past.learn(since=between).learned == 1
    assert past.tasks() == ["two"]
    coverage = past.learn()
    assert (coverage.learned, coverage.reasons) == (1, {"already_learned": 1})
    assert past.learn().seen == 0
    assert past.learn(since=EVER).reasons == {"already_learned": 2}
    assert past.learn(since=datetime.now(UTC) + timedelta(days=1))[:2] == (0, 0)


def test_a_verdict_that_decided_nothing_is_not_asked_for_again_unless_since_says_so(past):
    ask(chat(checkpointer=past.saver), "one")
    past.model = teacher("nothing of the kind")
    assert past.learn().reasons == {"indeterminate": 1}
    asked = len(past.model.calls)
    assert past.learn().seen == 0
    assert len(past.model.calls) == asked
    past.model = teacher()
    assert past.learn(since=EVER).learned == 1


def test_an_outage_holds_the_mark_back_and_what_came_after_it_is_not_asked_about_again(past):
    graph = chat(checkpointer=past.saver)
    for number, task in enumerate(["one", "two", "three"]):
        ask(graph, task, thread=f"t{number}")
    past.model = teacher(fails=lambda question: ConnectionError("no server") if "answer to two" in question else None)
    assert past.learn().reasons == {"outage": 1}
    coverage = past.learn()
    assert (coverage.seen, coverage.reasons) == (2, {"outage": 1, "already_learned": 1})
    past.model = teacher()
    assert past.learn().learned == 1
    assert past.learn().seen == 0


def test_each_checkpointer_has_a_mark_of_its_own_and_each_namespace(past):
    ask(chat(checkpointer=past.saver), "one", thread="t1")
    other = Past(InMemorySaver(), past.store)
    ask(chat(checkpointer=other.saver), "two", thread="t2")
    ask(chat(checkpointer=past.saver), "three", thread="t3")
    assert [each.learn().learned for each in (past, other)] == [2, 1]
    assert [each.learn().seen for each in (past, other)] == [0, 0]
    assert past.learn(namespace="another").learned == 2
    for each in (past, other, past, other):
        ask(chat(checkpointer=each.saver), f"more of {id(each)}", thread="t4")
        assert each.learn().seen == 1


def test_a_checkpointer_whose_named_checkpoints_are_gone_is_read_from_the_beginning(past):
    graph = chat(checkpointer=past.saver)
    for number in range(5):
        ask(graph, f"question {number}", thread=f"t{number}")
    past.learn()
    for number in (2, 3):
        past.saver.delete_thread(f"t{number}")
    assert past.learn().seen == 0
    past.saver.delete_thread("t4")
    assert past.learn().reasons == {"already_learned": 2}


def test_the_mark_outlives_forget_all_and_is_in_no_bank(past):
    ask(chat(checkpointer=past.saver), "one")
    past.learn()
    past.bank().forget_all()
    assert past.learn().seen == 0
    assert past.rows() == []
    (left,) = {row.namespace for row in past.store.search(()) if row.namespace[-1].endswith(THREADS)}
    assert (left, bank_of(left)) == (("math", "{user_id}~threads"), NAMESPACE)


def test_a_run_that_ends_while_a_walk_is_on_its_way_is_seen_by_the_next(past):
    graph = chat(checkpointer=past.saver)
    ask(graph, "one", thread="t1")
    ask(graph, "two", thread="t2")

    def judge(attempt):
        if attempt.task == "two":
            ask(graph, "late", thread="t1")
            time.sleep(0.01)
        return True

    assert past.learn(judge=judge).learned == 2
    assert past.learn().learned == 1
    assert past.tasks() == ["one", "two", "late"]


def test_the_time_of_a_checkpoint_is_read_from_its_id(past):
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    ask(chat(checkpointer=past.saver), "one")
    (name,) = checkpoints.newest_checkpoints(past.saver, before).values()
    assert UUID(name).version == 6
    assert checkpoints.newest_checkpoints(past.saver, datetime.now(UTC)) == {}


def test_the_overlap_covers_a_checkpoint_that_was_written_late(past, monkeypatch):
    ask(chat(checkpointer=past.saver), "one")
    past.learn()
    monkeypatch.setattr(watermark, "_OVERLAP", timedelta(minutes=1))
    assert past.learn().reasons == {"already_learned": 1}


def test_the_mark_of_a_checkpointer_outlives_many_walks_over_another(past):
    other = Past(InMemorySaver(), past.store)
    ask(chat(checkpointer=other.saver), "one")
    other.learn()
    graph = chat(checkpointer=past.saver)
    for number in range(25):
        ask(graph, f"question {number}", thread="t1")
        past.learn(judge=lambda _: True)
    assert other.learn().seen == 0


def test_a_mark_names_no_checkpoint_of_a_graph_inside_the_graph(past):
    def failing(_):
        raise RuntimeError("no server")

    inner = chat().builder
    inner.add_node("last", failing)
    inner.add_edge("answer", "last")
    builder = StateGraph(MessagesState)
    builder.add_node("inner", inner.compile(checkpointer=True))
    builder.add_edge(START, "inner")
    with pytest.raises(RuntimeError, match="no server"):
        ask(builder.compile(checkpointer=past.saver), "one")
    inside = max(found.config["configurable"]["checkpoint_id"] for found in past.saver.list(None))
    assert past.saver.get_tuple(config()).config["configurable"]["checkpoint_id"] < inside
    assert past.learn().reasons == {"unfinished": 1}
    assert past.learn().seen == 0


def test_a_checkpoint_of_a_clock_that_is_ahead_hides_none_that_come_after_it(past, monkeypatch):
    graph, now = chat(checkpointer=past.saver), time.time_ns
    with monkeypatch.context() as patched:  # LangGraph makes no id that is older than its last one
        patched.setattr("langgraph.checkpoint.base.id._last_v6_timestamp", None)
        patched.setattr(time, "time_ns", lambda: now() + 86_400 * 10**9)
        ask(graph, "of tomorrow", thread="t1")
    assert past.learn().learned == 1
    ask(graph, "of today", thread="t2")
    assert past.learn().learned == 1
    assert past.tasks() == ["of tomorrow", "of today"]


def test_a_model_that_is_down_is_not_asked_about_every_thread_and_none_is_lost(past):
    graph = chat(checkpointer=past.saver)
    for number in range(6):
        ask(graph, f"question {number}", thread=f"t{number}")
    past.model = teacher(fails=lambda question: ConnectionError("no server"))
    coverage = past.learn()
    assert (coverage.reasons, len(past.model.calls)) == ({"outage": 6}, 3)
    assert ["not asked" in skip.why for skip in coverage.skips] == [False] * 3 + [True] * 3
    past.model = teacher(fails=lambda question: None if "You check whether" in question else TimeoutError("too slow"))
    assert (past.learn().reasons, len(past.model.calls)) == ({"outage": 6}, 6)
    past.model = teacher(fails=lambda question: ValueError("it does not like this one"))
    assert (past.learn().reasons, len(past.model.calls)) == ({"outage": 6}, 6)
    past.model = teacher()
    assert past.learn().learned == 6


@pytest.mark.parametrize("name", [uuid4(), 7], ids=["uuid", "number"])
def test_a_thread_whose_id_is_no_text_is_read_too(past, name):
    graph = chat(checkpointer=past.saver)
    for thread, question in ((name, "one"), ("t1", "two")):
        ask(graph, question, thread=thread)
    assert past.learn().learned == 2
    assert [item.provenance.thread_id for item in past.bank().items()] == [str(name), "t1"]
    assert past.learn(since=EVER).reasons == {"already_learned": 2}
    assert past.learn().seen == 0
