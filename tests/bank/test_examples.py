"""A success at the most similar other task is found to be shown as an example: whole, of this branch, in one call."""

from itertools import combinations

import numpy as np
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.bank import EXAMPLE_FLOOR
from reasoningbank_langgraph.embeddings import default_embeddings
from reasoningbank_langgraph.records import utc_now
from tests.bank.test_episodes import episode, of_episode
from tests.bank.test_forgetting import NAMESPACE, STORES, lesson
from tests.loop_fakes import indexed_memory, learner, open_store

TASK = "red green blue"
KINDS = {
    "word problems": [
        "Tom had 12 apples and gave 5 to Ann. How many are left?",
        "A shop sold 30 pens on Monday and 18 on Tuesday. How many pens were sold in all?",
        "Maria saves 4 dollars each week for 9 weeks. How much does she have?",
        "There are 6 boxes with 8 pencils each and 5 loose pencils. How many pencils are there?",
        "A bus had 40 seats, 13 were empty. How many people sat down?",
    ],
    "algebra": [
        "Solve 3x + 5 = 20 for x.",
        "Find the roots of x^2 - 5x + 6 = 0.",
        "Simplify (2a+b)^2 - b^2.",
        "If f(x)=2x-1, what is f(f(3))?",
    ],
    "geometry": [
        "What is the area of a triangle with base 6 and height 4?",
        "A circle has radius 3. What is its circumference?",
        "The sides of a right triangle are 5 and 12. Find the hypotenuse.",
    ],
    "code": [
        "Write a Python function that reverses a linked list.",
        "Fix the off-by-one error in this binary search.",
        "Write a SQL query that lists customers without orders.",
        "Parse a CSV file and sum the third column in Python.",
    ],
    "errands": [
        "Book a table for two at an Italian restaurant on Friday.",
        "Find the cheapest flight from Berlin to Rome in May.",
        "Change the shipping address of my last order.",
    ],
    "facts": ["Who wrote Don Quixote?", "What is the capital of Australia?", "When did the Roman empire fall?"],
}


def filled(store, *episodes):
    bank = MemoryBank(store, NAMESPACE)
    for each in episodes:
        bank.add([], episodes=[each])
    return bank


def found(bank, task=TASK, **options):
    return [example.episode.id for example in bank.search_examples(task, **options)]


@STORES
def test_the_most_similar_success_at_another_task_is_found_with_its_score_and_its_judge(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        near = episode("near", task="red green white")
        judged = near.provenance.model_copy(update={"judge": "reference"})
        bank = filled(
            store,
            episode("same", task=" Red green BLUE "),
            episode("failed", task="red green blue grey", outcome="failure"),
            episode("far", task="one two three"),
            near.model_copy(update={"provenance": judged}),
        )
        (example,) = bank.search_examples(TASK)
        assert example.episode.id == "near"
        assert EXAMPLE_FLOOR <= example.score < 1
        assert example.why == f"similarity {example.score:.2f} of the tasks; judged a success by reference"


@STORES
def test_how_many_and_how_similar_examples_are_is_a_setting(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        names = {"first": "red green white", "second": "red white grey", "third": "one two three"}
        bank = filled(store, *(episode(name, task=task) for name, task in names.items()))
        assert found(bank, k=2) == ["first"]
        assert found(bank, k=2, min_score=0.1) == ["first", "second"]
        assert set(found(bank, k=9, min_score=None)) == set(names)
        assert found(bank, min_score=0.99) == []
        assert found(bank, task_id=episode("first", task="red green white").task_id, min_score=0.1) == ["second"]
        with pytest.raises(ValueError, match="k"):
            bank.search_examples(TASK, k=0)


@STORES
def test_a_solution_that_is_cut_too_long_or_blank_is_no_example(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(
            store,
            episode("cut", task=f"{TASK} 1", cut=True),
            episode("long", task=f"{TASK} 2", solution="x" * 6_000),
            episode("blank", task=f"{TASK} 3", solution=" \u200b"),
        )
        assert found(bank, min_score=None, k=9) == []


@STORES
def test_of_an_experience_one_success_is_an_example(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([], episodes=[episode(name, experience="group", task="red green") for name in "ab"])
        bank.add([], episodes=[episode("c", task="red green white")])
        assert found(bank, k=2) == ["a", "c"]


def test_a_store_without_an_index_gives_the_newest_only_where_any_example_will_do():
    bank = filled(InMemoryStore(), episode("old"), episode("new"))
    assert bank.search_examples(TASK) == []
    (example,) = bank.search_examples(TASK, min_score=None)
    assert (example.episode.id, example.score) == ("new", None)
    assert example.why.startswith("the store has no index: newest first")


def test_an_example_of_another_branch_of_the_thread_is_not_found_and_one_of_this_branch_is():
    store = indexed_memory()
    graph = create_reasoning_bank(lambda _: {"answer": "4"}, model=learner(), namespace=NAMESPACE, show="examples")
    app, config = graph.compile(checkpointer=InMemorySaver(), store=store), {"configurable": {"thread_id": "t"}}
    app.invoke({"task": "one two three"}, config)
    first = app.get_state(config)
    app.invoke({"task": f"{TASK} grey"}, config)
    other = MemoryBank(store, NAMESPACE).episodes()[-1].id
    assert app.invoke({"task": TASK}, config)["memory_examples"][0]["episode"]["id"] == other
    forked = app.invoke({"task": TASK}, first.config)
    assert [example["episode"]["id"] for example in forked["memory_examples"]] != [other]
    assert app.invoke({"task": TASK}, {"configurable": {"thread_id": "new"}})["memory_examples"]
    assert found(MemoryBank(store, NAMESPACE).as_of(first), min_score=None, k=9) == [
        kept.id for kept in MemoryBank(store, NAMESPACE).as_of(first).episodes()
    ]


@STORES
@pytest.mark.parametrize("thread", [None, "mine"])
def test_lessons_and_examples_are_found_in_one_batch_with_one_embedding_call(kind, thread, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store, episode("e", task="red green white"))
        bank.add([lesson("a", task="red green grey")])
        before = len(store.embeddings.calls)
        question = {"task": TASK, "thread_id": thread, "written": ()}
        both = bank.recall("both", EXAMPLE_FLOOR, **question)
        assert ([memory.item.id for memory in both.memories], found(bank)) == (["a"], ["e"])
        assert [example.episode.id for example in both.examples] == ["e"]
        assert len(store.embeddings.calls) == before + 2  # the other one is `found`
        for show, kept in (("lessons", both._replace(examples=())), ("examples", both._replace(memories=()))):
            assert bank.recall(show, EXAMPLE_FLOOR, **question) == kept


async def test_examples_are_searched_asynchronously_too():
    bank = filled(indexed_memory(), episode("e", task="red green white"))
    assert await bank.asearch_examples(TASK) == bank.search_examples(TASK) != []
    assert await bank.as_of(utc_now()).asearch_examples(TASK) == bank.search_examples(TASK)


@pytest.mark.real_model
def test_the_floor_keeps_tasks_of_other_kinds_out_and_lets_near_ones_of_the_same_kind_in():
    tasks = [(kind, task) for kind, some in KINDS.items() for task in some]
    vectors = np.array(default_embeddings().embed_documents([task for _, task in tasks]))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = [(one, other, vectors[one] @ vectors[other]) for one, other in combinations(range(len(tasks)), 2)]
    same, different = ([p for p in pairs if (tasks[p[0]][0] == tasks[p[1]][0]) is equal] for equal in (True, False))
    assert len(different) == 200
    assert sum(score >= EXAMPLE_FLOOR for *_, score in different) <= 2
    served = {number for *both, score in same if score >= EXAMPLE_FLOOR for number in both}
    assert len(tasks) == 22
    assert len(served) >= 9


@pytest.mark.parametrize("chosen", ["a", "old 1"])
def test_what_was_learned_from_an_episode_is_forgotten_with_the_lesson_that_takes_it_along(chosen):
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    group = [episode(f"old {number}", experience="old") for number in range(2)]
    bank.add([of_episode("a", group[0])], episodes=group)
    copied = episode("copied", used=("old 0",), shown=("old 0",))
    bank.add([of_episode("b", copied)], episodes=[copied])
    bank.forget(chosen)
    assert (bank.items(), bank.episodes()) == ([], [])
