"""Whose bank a walk writes to."""

import pytest

from tests.learn.past import Past, ask, chat


@pytest.fixture
def past():
    return Past()


def test_each_tenant_learns_from_its_own_threads_and_a_run_without_a_label_goes_into_no_bank(past):
    graph = chat(checkpointer=past.saver)
    for number, user in enumerate(["ann", "bob", 7]):
        ask(graph, f"a question of {user}", thread=f"t{number}", user=user)
    ask(graph, "nobody's question", thread="t8", user=None)
    ask(graph, "a question by mail", thread="t9", user="ann@example.org")
    coverage = past.learn()
    assert (coverage.learned, coverage.reasons) == (3, {"no_namespace": 2})
    assert [past.tasks(user) for user in ("ann", "bob", "7")] == [
        [f"a question of {user}"] for user in ("ann", "bob", 7)
    ]
    assert {one[0] for one in past.rows()} == {
        ("math", f"{user}{end}") for user in ("ann", "bob", "7") for end in ("", "~episodes")
    }
    missing, dotted = coverage.skips
    assert missing.why.startswith("the namespace needs 'user_id', and of the run's config the checkpoint kept only ")
    assert "thread_id" in missing.why
    assert "config=" not in missing.why
    assert "a dot" in dotted.why


def test_a_thread_that_changes_hands_is_learned_from_turn_by_turn(past):
    graph = chat(checkpointer=past.saver)
    ask(graph, "of ann", user="ann")
    ask(graph, "of bob", user="bob")
    past.learn()
    assert (past.tasks("ann"), past.tasks("bob")) == (["of ann"], ["of bob"])


def test_a_label_is_not_filled_from_what_langgraph_itself_notes(past):
    chat(checkpointer=past.saver).invoke(
        {"messages": [("user", "one")]}, {"configurable": {"thread_id": "t1", "source": "web", "step": 3}}
    )
    for name in ("source", "step", "parents"):
        assert past.learn(namespace=("math", f"{{{name}}}")).reasons == {"no_namespace": 1}
    assert past.learn(namespace=("math", "{thread_id}")).learned == 1
