"""Pictures: which there are, that they show the figures, that they look the same every time."""

import struct
import sys

import pytest

from reasoningbank_langgraph.errors import MissingDependencyError
from reasoningbank_langgraph.experiments.report import plots
from reasoningbank_langgraph.experiments.report.drawing import LIGHT
from reasoningbank_langgraph.experiments.summarise import summarise

from .fake_rows import config, needs_extra, row, rows, stream_rows

pytestmark = [pytest.mark.slow, needs_extra]

RENDERED = True
SCALING = {
    f"{kind}-{k}{more}": 0.5 for kind in ("vote", "checked") for k in (2, 3) for more in ("", "+memory", "+matts")
}
CASES = {
    "two arms": (rows({"baseline": 0.5, "memory": 0.6}, 20), config(), {"accuracy.png", "terciles.png"}),
    "bank sizes": (
        rows({"baseline": 0.5, "memory": 0.6, "memory-10": 0.5}, 20),
        config(bank_sizes=(10,)),
        {"accuracy.png", "bank_growth.png", "terciles.png"},
    ),
    "scaling": (
        rows({"baseline": 0.4, "memory": 0.5, **SCALING}, 20),
        config(protocol="scaling", attempts=(2, 3), modes=("parallel", "sequential")),
        {"accuracy.png", "scaling.png", "tokens.png", "terciles.png"},
    ),
    "partly aided": (
        rows({"baseline": 0.4, "memory": 0.5, "guarded": 0.5, "long": 0.4, "gated-3": 0.5, "half-3": 0.5}, 20),
        config(arms=("baseline", "memory", "guarded", "long", "gated", "half")),
        {"accuracy.png", "terciles.png"},
    ),
    "stream": (
        stream_rows({"baseline": 0.5, "memory": 0.5}, 20),
        config(protocol="stream", train=None, seeds=(0, 1)),
        {"accuracy.png", "bank_growth.png", "terciles.png"},
    ),
    "one arm, one row": ([row("memory")], config(arms=("memory",)), {"accuracy.png"}),
    "only learned so far": ([row("learning")], config(), set()),
}


@pytest.mark.parametrize("case", CASES)
def test_an_experiment_has_the_pictures_of_its_protocol(case):
    given, settings, names = CASES[case]
    drawn = plots.draw(given, summarise(given, settings))
    assert set(drawn) == names
    for picture in drawn.values():
        assert picture.light[:8] == picture.dark[:8] == b"\x89PNG\r\n\x1a\n"
        assert picture.light != picture.dark
        width, height = struct.unpack(">II", picture.light[16:24])
        assert width == 1056
        assert height < 4000
        assert picture.says


def test_equal_rows_give_equal_bytes():
    given, settings, _ = CASES["stream"]
    summary = summarise(given, settings)
    assert plots.draw(given, summary) == plots.draw(given, summary)


def test_shares_are_drawn_from_0_to_1_and_differences_around_0():
    given, settings, _ = CASES["bank sizes"]
    summary = summarise(given, settings)
    above, below = plots._accuracy(given, summary, LIGHT)[0].axes
    assert above.get_xlim() == (0, 1)
    assert [label.get_text() for label in above.get_yticklabels()] == ["baseline", "memory", "memory-10"]
    drawn = [line.get_xdata()[0] for line in above.lines]
    assert drawn == [arm.accuracy.value for arm in summary.arms]
    low, high = below.get_xlim()
    assert low < 0 < high
    assert [label.get_text() for label in below.get_yticklabels()] == ["memory", "memory-10"]


def test_the_running_accuracy_is_the_share_right_so_far_averaged_over_seeds():
    outcomes = {0: [True, False, True], 1: [False, False, True]}
    given = [
        row("memory", f"p{n}", right, seed, position=n) for seed, of in outcomes.items() for n, right in enumerate(of)
    ]
    problems, running = plots._over_the_stream(plots._running(given))
    assert problems == [1, 2, 3]
    assert running == pytest.approx([(1 + 0) / 2, (0.5 + 0) / 2, (2 / 3 + 1 / 3) / 2])


def test_the_whole_bank_stands_at_the_problems_it_was_learned_from_whatever_other_arms_there_are():
    learned = [
        row("learning", f"t{n}", memory="", shown=(), error="TimeoutError" if n > 29 else None) for n in range(32)
    ]
    given = [*CASES["bank sizes"][0], *learned, *rows({"vote-3": 0.5}, 20)]
    summary = summarise(given, config(arms=("baseline", "memory", "vote"), bank_sizes=(10,)))
    (panel,) = plots._bank_sizes(given, summary, LIGHT)[0].axes
    assert list(panel.lines[0].get_xdata()) == [10, 30]


def test_scaling_starts_at_one_attempt_and_draws_accuracy_and_pass_at_k():
    given, settings, _ = CASES["scaling"]
    for panel in plots._scaling(given, summarise(given, settings), LIGHT)[0].axes:
        places = [[round(k) for k in line.get_xdata()] for line in panel.lines]
        assert places == 4 * [[1, 2, 3]] + 2 * [[2, 3]]  # a bank of MaTTS takes several attempts
        assert panel.get_ylim() == (0, 1)


def test_the_cost_of_attempts_is_drawn_from_one_attempt_up_in_a_line_for_each_mode_and_memory():
    given, settings, _ = CASES["scaling"]
    summary = summarise(given, settings.model_copy(update={"fixed_k": True}))
    (panel,) = plots._tokens(given, summary, LIGHT)[0].axes
    assert [line.get_label() for line in panel.lines] == [
        f"{mode}, {memory}"
        for memory in ("no memory", "with memory", "with a memory of MaTTS")
        for mode in ("parallel", "sequential")
    ]
    arms = {arm.arm: arm for arm in summary.arms}
    names = ["baseline", "vote-2", "vote-3"]
    assert list(panel.lines[0].get_ydata()) == [arms[name].accuracy.value for name in names]
    assert list(panel.lines[0].get_xdata()) == [arms[name].tokens_in + arms[name].tokens_out for name in names]
    assert [text.get_text() for text in panel.texts[1:4]] == ["1", "2", "3"]
    assert panel.get_xlabel().endswith(": attempts")
    assert plots._tokens(given, summarise(given, settings), LIGHT)[0].axes[0].get_xlabel().endswith("at most")


def test_a_missing_package_is_named_with_the_extra_that_brings_it(monkeypatch):
    given, settings, _ = CASES["stream"]
    summary = summarise(given, settings)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingDependencyError, match=r"matplotlib is not installed: .*\[experiments\]"):
        plots.draw(given, summary)
