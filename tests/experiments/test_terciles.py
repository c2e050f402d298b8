"""Where a memory helps: thirds of the problems by similarity and by length, and what is shown of them."""

import pytest

from reasoningbank_langgraph.experiments.report import write_report
from reasoningbank_langgraph.experiments.report.drawing import LIGHT
from reasoningbank_langgraph.experiments.report.terciles_plot import terciles_plot
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.experiments.summarise import summarise

from .fake_rows import config, needs_extra, row

pytestmark = needs_extra


def graded(arm, number, right, *, length=100, score=None, seed=0):
    """A row whose reply has a length and whose memory a similarity."""
    scores = {"scores": (0.1, score)} if score is not None else {"scores": ()}
    return row(arm, f"p{number:02}", right, seed, reply="x" * length, **scores)


def near_copies_help(problems=12):
    """Memory is right on the third of the problems that is nearest to what was learned, and wrong elsewhere."""
    made = []
    for number in range(problems):
        score = (30 + number) / 100
        made.append(graded("baseline", number, number % 2 == 0, length=300 - number))
        made.append(graded("memory", number, number >= 8, length=100 - number, score=score))
    return made


def of(summary, by, arm="memory"):
    return [part for part in summary.terciles if (part.by, part.arm) == (by, arm)]


def test_a_gain_on_near_copies_alone_is_seen_in_the_highest_third():
    parts = of(summarise(near_copies_help(), config()), "similarity")
    assert [(part.low, part.high, part.problems) for part in parts] == [
        (0.3, 0.33, 4),
        (0.34, 0.37, 4),
        (0.38, 0.41, 4),
    ]
    assert [part.difference.value for part in parts] == [-0.5, -0.5, 0.5]
    assert [(part.accuracy_against, part.accuracy) for part in parts] == [(0.5, 0.0), (0.5, 0.0), (0.5, 1.0)]
    assert all(part.difference.low < part.difference.value < part.difference.high for part in parts)


def test_the_length_that_puts_problems_in_order_is_the_mean_of_both_arms():
    parts = of(summarise(near_copies_help(), config()), "reply length")
    assert [(part.low, part.high) for part in parts] == [(189, 192), (193, 196), (197, 200)]
    assert [(part.reply_length, part.reply_length_against) for part in parts] == [
        (90.5, 290.5),
        (94.5, 294.5),
        (98.5, 298.5),
    ]


def test_the_seeds_of_a_problem_stay_in_one_third_and_count_once():
    given = [
        graded(arm, number, (number + seed) % 2 == 0, score=0.5 + number / 100 if arm == "memory" else None, seed=seed)
        for number in range(9)
        for seed in (0, 1, 2)
        for arm in ("baseline", "memory")
    ]
    parts = of(summarise(given, config(seeds=(0, 1, 2))), "similarity")
    assert [part.problems for part in parts] == [3, 3, 3]


def test_an_arm_of_several_attempts_is_compared_with_as_many_without_memory():
    arms = {"baseline": None, "vote-3": None, "gated-3": 0.5, "half-3": None}
    given = [
        graded(arm, number, right=True, score=score and score + number / 100)
        for number in range(9)
        for arm, score in arms.items()
    ]
    summary = summarise(given, config(arms=("baseline", "vote", "gated", "half")))
    assert {(part.arm, part.against) for part in summary.terciles} == {("gated-3", "vote-3"), ("half-3", "vote-3")}
    assert len(of(summary, "similarity", "half-3")) == 3  # the similarity is that of the problem, in whatever arm
    groups = {(found.arm, found.against): found.group for found in summary.comparisons}
    assert groups["gated-3", "vote-3"] == groups["half-3", "vote-3"] == "same attempts"


def test_examples_are_put_in_order_by_the_tasks_of_examples_and_lessons_by_those_of_lessons():
    far = [graded("examples", number, right=True, score=(90 - number) / 100) for number in range(12)]
    summary = summarise([*near_copies_help(), *far], config(arms=("baseline", "memory", "examples")))
    parts = of(summary, "similarity", "examples")
    assert [(part.low, part.high, part.against) for part in parts] == [
        (0.79, 0.82, "baseline"),
        (0.83, 0.86, "baseline"),
        (0.87, 0.9, "baseline"),
    ]
    assert of(summary, "similarity") == of(summarise(near_copies_help(), config()), "similarity")
    assert len(of(summary, "reply length", "examples")) == 3


@pytest.mark.parametrize(
    "given",
    [
        near_copies_help(8),
        [graded(arm, number, right=True, score=0.5) for number in range(20) for arm in ("baseline", "memory")],
        [one for one in near_copies_help() if one.arm == "memory"],
        [one.model_copy(update={"error": "ModelError"}) for one in near_copies_help()],
    ],
    ids=["too few", "all alike", "nothing to compare with", "failed"],
)
def test_there_are_no_thirds_where_they_would_say_nothing(given):
    assert summarise(given, config()).terciles == ()


@pytest.mark.parametrize(("odd", "lows"), [(0.4, [0.4, 0.5, 0.5]), (0.6, [0.5, 0.5, 0.5])])
def test_one_problem_that_is_unlike_the_others_is_enough_for_thirds(odd, lows):
    given = [
        graded(arm, number, right=True, score=odd if number == 4 else 0.5)
        for number in range(9)
        for arm in ("baseline", "memory")
    ]
    assert [part.low for part in of(summarise(given, config()), "similarity")] == lows


@pytest.mark.slow
def test_the_report_has_the_table_and_the_picture_and_the_rows_alone_give_them(tmp_path):
    (tmp_path / "config.json").write_text(config().model_dump_json())
    results = Results(tmp_path)
    for one in near_copies_help():
        results.append(one)
    summary = write_report(tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "By similarity of the nearest task that was learned" in page
    assert "memory against baseline" in page
    assert "0.38 to 0.41" in page
    assert (tmp_path / "terciles.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "texts.jsonl").unlink()
    assert write_report(tmp_path).terciles == summary.terciles


@pytest.mark.slow
def test_the_picture_shows_the_differences_of_both_orders():
    given = near_copies_help()
    summary = summarise(given, config())
    figure, says = terciles_plot(given, summary, LIGHT)
    above, below = figure.axes
    for axes, by in ((above, "similarity"), (below, "reply length")):
        drawn = [
            list(line.get_ydata()) for line in axes.lines if line.get_marker() == "s" or len(line.get_ydata()) == 3
        ]
        assert drawn == [[part.difference.value * 100 for part in of(summary, by)]]
    assert "similarity and by reply length" in says
