"""What each arm shows before a problem: what is retrieved, what stands in its place, and nothing that gives it away."""

import re
from types import SimpleNamespace

import pytest

from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.memories import (
    ShownMemory,
    guard,
    memory_source,
    nearest_example,
    no_memory,
    random_example,
    random_memory,
    shuffled_memory,
)
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import Episode, MemoryItem, RetrievedExample, RetrievedMemory
from reasoningbank_langgraph.text import parse_rendered
from reasoningbank_langgraph.text.memories import HEADER, WEAK_HEADER

from .fake_rows import LESSON, config


def item(name, task, length=40, **more):
    return MemoryItem(
        **{"id": name, "title": name, "description": "d", "content": "c" * length, "outcome": "success", "task": task}
        | more
    )


def attempt(name, task="task", **more):
    return Episode(**{"id": name, "task": task, "solution": f"s {name}", "outcome": "success", **more})


def retrieved(*items, score=0.7):
    return [RetrievedMemory(item=one, score=score) for one in items]


def shows(*items):
    return guard(Problem("q", "none", "no such answer"), retrieved(*items))


def problems(count):
    return [Problem(f"p{number}", f"problem {number}", f"answer {number}") for number in range(count)]


def names(shown):
    return [memory.item.id for memory in shown.items]


class Bank:
    """Finds the same for every task, and notes how it was asked."""

    def __init__(self, *records, found=()):
        self.found, self.asked = [*found], []
        self.lessons = [one for one in records if isinstance(one, MemoryItem)]
        self.attempts = [one for one in records if isinstance(one, Episode)]

    def search(self, task, **asked):
        self.asked.append((task, asked))
        return self.found

    search_examples = search

    def items(self):
        return self.lessons

    def episodes(self):
        return self.attempts


def test_shuffled_leaves_out_what_both_problems_share():
    one, two, three = problems(3)
    shared = item("shared", "t1")
    source = {one: shows(shared), two: shows(shared, item("other", "t2")), three: shows(item("twin", "t1"))}
    shown = shuffled_memory(lambda problem, _: source[problem], [one, two, three])
    assert [(memory.item.id, memory.score) for memory in shown(one, 0).items] == [("other", None)]
    assert shown(two, 0).items == ()
    assert names(shown(three, 0)) == ["other"]


def test_shuffled_has_nothing_to_show_for_the_only_problem():
    (one,) = problems(1)
    assert shuffled_memory(lambda *_: shows(item("own", "t1")), [one])(one, 0).items == ()


def test_shuffled_moves_all_memories_by_a_jump_that_the_seed_draws():
    every = problems(4)
    memories = {problem: shows(item(problem.id, f"task {problem.id}")) for problem in every}
    shown = shuffled_memory(lambda problem, _: memories[problem], every)
    jumps = set()
    for seed in range(9):
        moved = [int(names(shown(problem, seed))[0].strip("p")) for problem in every]
        (jump,) = {(to - place) % 4 for place, to in enumerate(moved)}
        jumps.add(jump)
    assert jumps == {1, 2, 3}


def test_the_arm_called_shuffled_shows_what_another_problem_is_shown():
    every = problems(3)
    own = dict(zip((problem.text for problem in every), ("apples", "pears", "plums"), strict=True))
    bank = SimpleNamespace(search=lambda task, **_: retrieved(item(own[task], f"sum of {own[task]}")))
    source = memory_source(Arm("shuffled", "shuffled"), bank, config(), every)
    shown = {own[problem.text]: names(source(problem, 0)) for problem in every}
    assert sorted(shown.values()) == [["apples"], ["pears"], ["plums"]]
    assert all(found != [name] for name, found in shown.items())


def test_shuffled_shows_as_many_lessons_and_none_with_the_answer():
    one, *others = problems(4)
    source = {
        one: shows(item("a", "t1"), item("b", "t2")),
        others[0]: shows(item("c", "t3")),
        others[1]: shows(item("d", "t4"), item("e", "t5", content="It is answer 0.")),
        others[2]: shows(*(item(name, f"t {name}") for name in "fghi")),
    }
    shown = [shuffled_memory(lambda problem, _: source[problem], [one, *others])(one, seed) for seed in range(5)]
    assert {(*names(found), *found.dropped) for found in shown} == {("d", "e")}


def test_random_draws_other_lessons_of_about_the_same_length():
    every = [item(f"m{number:02}", f"task {number}", 40 * (number + 1)) for number in range(30)]
    draw = random_memory(Bank(*every), lambda *_: ShownMemory("", tuple(retrieved(every[3], every[20]))))
    sets = {seed: [memory.item for memory in draw(problems(1)[0], seed).items] for seed in range(12)}
    assert sets[0] == [memory.item for memory in draw(problems(1)[0], 0).items]
    assert len({tuple(one.id for one in drawn) for drawn in sets.values()}) > 3
    for short, long in sets.values():
        assert {short.id, long.id}.isdisjoint({"m03", "m20"})
        assert abs(len(short.content) - len(every[3].content)) <= 120
        assert abs(len(long.content) - len(every[20].content)) <= 120


def test_random_draws_each_lesson_once_from_active_ones_of_other_tasks_without_the_answer():
    (problem,) = problems(1)
    mine = [item("mine", "t1"), item("second", "t2"), item("third", "t3")]
    kept_out = [
        item("same task", "T1"),
        item("own id", "t8", task_id="p0"),
        item("own text", "Problem  0"),
        item("answer", "t9", content="answer 0"),
        item("gone", "t10", status="superseded"),
    ]
    others = [item("far", "t5", 900), item("near", "t6")]
    draw = random_memory(Bank(*mine, *kept_out, *others), lambda *_: ShownMemory("", tuple(retrieved(*mine))))
    drawn = [draw(problem, seed) for seed in range(9)]
    assert {frozenset(names(shown)) for shown in drawn} == {frozenset({"far", "near"})}
    assert {(len(shown.items), shown.dropped) for shown in drawn} == {(2, ())}
    assert {memory.score for shown in drawn for memory in shown.items} == {None}


def test_filler_has_the_shape_of_a_memory_and_nothing_of_its_meaning():
    lessons = [LESSON, LESSON.model_copy(update={"id": "b", "title": "Go", "content": "Add the parts. " * 40})]
    source = memory_source(Arm("filler", "filler"), Bank(found=retrieved(*lessons)), config(), problems(1))
    shown = source(problems(1)[0], 0)
    fields = parse_rendered(shown.prompt)
    assert len(fields) == 2
    for field, lesson in zip(fields, lessons, strict=True):
        for name in ("title", "description", "content"):
            length = len(getattr(lesson, name))
            assert 0 < len(field[name]) <= max(length, 3)
            assert length - len(field[name]) < 10
    words = {word for field in fields for text in field.values() for word in re.findall("[a-z]{4,}", text.lower())}
    assert not words & {"units", "quantity", "unit", "question", "parts", "problem", "minutes", "hours", "convert"}
    assert (shown.items, shown.dropped, shown.examples) == ((), (), ())


def test_the_guard_keeps_out_what_gives_the_answer_away_and_names_it():
    (problem,) = problems(1)
    bad = item("bad", "t2", content="The answer 0 is right.")
    shown = guard(problem, retrieved(item("a", "t1"), bad, item("c", "t3")))
    assert (names(shown), shown.dropped) == (["a", "c"], ("bad",))
    assert [field["title"] for field in parse_rendered(shown.prompt)] == ["a", "c"]
    assert guard(problem, retrieved(bad)) == ShownMemory("", (), ("bad",))


def test_the_same_memory_is_the_same_text_in_every_run_and_another_one_has_another_fence():
    fences = [
        re.findall(r"notes (\S+) ===", shows(one).prompt) for one in (item("a", "t"), item("a", "t"), item("b", "t"))
    ]
    assert fences[0] == fences[1]
    assert len({*fences[0], *fences[2]}) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", fence) for fence in fences[0])


@pytest.mark.parametrize("levels", [False, True])
def test_each_problem_is_asked_once_with_the_settings_of_the_run(levels):
    settings = config(k=3, max_items=7, min_score=0.25)
    bank, (one, two) = Bank(found=retrieved(item("a", "t"))), problems(2)
    source = memory_source(Arm("memory", "retrieved", levels=levels), bank, settings, [one, two])
    assert (
        source(one, 0)
        == source(one, 1)
        == source(two, 0)
        == shows(item("a", "t", created_at=bank.found[0].item.created_at))
    )
    asked = {"k": 3, "max_items": 7, "min_score": 0.25, "levels": levels}
    assert bank.asked == [("problem 0", {"task_id": "p0", **asked}), ("problem 1", {"task_id": "p1", **asked})]


@pytest.mark.parametrize("memory", ["retrieved", "shuffled", "random", "filler"])
def test_a_weak_solver_is_shown_the_same_under_the_heading_for_weak_ones(memory):
    lessons = [item(name, f"task {name}") for name in "abcd"]
    bank, every = Bank(*lessons, found=retrieved(lessons[0])), problems(3)
    found = {
        weak: memory_source(Arm(memory, memory), bank, config(), every, weak=weak)(every[0], 0)
        for weak in (False, True)
    }
    assert found[True].prompt == found[False].prompt.replace(HEADER, WEAK_HEADER)
    assert HEADER not in found[True].prompt
    assert found[True].items == found[False].items
    assert (memory == "shuffled") or WEAK_HEADER in found[True].prompt


def test_the_nearest_example_is_the_first_that_does_not_give_the_answer_away():
    found = [
        RetrievedExample(episode=attempt(name, f"task {name}", solution=solution), score=score)
        for name, solution, score in (("a", "answer 0", 0.9), ("b", "fine", 0.8), ("c", "fine", 0.7))
    ]
    (problem,) = problems(1)
    bank = Bank(found=found)
    shown = nearest_example(bank, 0.6)
    assert shown(problem, 0) == shown(problem, 1) == ShownMemory(dropped=("a",), examples=(found[1],))
    assert bank.asked == [("problem 0", {"task_id": "p0", "k": 10, "min_score": 0.6})]
    assert nearest_example(Bank(found=found[:1]))(problem, 0) == ShownMemory(dropped=("a",))


def test_an_arm_of_examples_holds_to_the_floor_and_its_control_draws_an_attempt_that_may_be_shown():
    shown, cut, other = attempt("a", "task a"), attempt("b", "task b", cut=True), attempt("c", "task c")
    bank = Bank(shown, cut, attempt("d", "task d", outcome="failure"), other, found=[RetrievedExample(episode=shown)])
    (problem,) = problems(1)
    sources = {
        memory: memory_source(Arm(memory, memory), bank, config(min_score=0.3), [problem])
        for memory in ("examples", "random examples")
    }
    assert [one.episode.id for one in sources["examples"](problem, 0).examples] == ["a"]
    assert bank.asked[0][1]["min_score"] == 0.3
    for seed in range(5):
        assert [one.episode.id for one in sources["random examples"](problem, seed).examples] == ["c"]
    assert random_example(bank, no_memory)(problem, 0) == no_memory(problem, 0) == ShownMemory()


def test_a_memory_tells_what_it_shows_and_where_that_was_learned():
    example = RetrievedExample(episode=attempt("e", "task e", task_id="p7"), score=0.4)
    both = shows(item("a", "t", task_id="p5"))._replace(examples=(example,))
    assert both.sources == {"shown": ("a", "e"), "scores": (0.7, 0.4), "sources": ("p5", "p7")}
    assert both.text == f"user: task e\n\nassistant: s e\n\n{both.prompt}"
    turns = [{"role": "user", "content": "task e"}, {"role": "assistant", "content": "s e"}]
    assert both.channels == {"memory_prompt": both.prompt, "memory_messages": turns}
    unscored = ShownMemory(items=tuple(retrieved(item("a", "t"), score=None)))
    assert (unscored.sources["scores"], unscored.text) == ((), "")
