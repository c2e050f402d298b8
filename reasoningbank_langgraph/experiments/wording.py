"""Figures as sentences, for readers who do not know what a p value is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, inf

from reasoningbank_langgraph.experiments.arms import CYCLE, arms_of
from reasoningbank_langgraph.experiments.config import CONTROLS, TUNED, ExperimentConfig
from reasoningbank_langgraph.experiments.stats import ALPHA, Interval
from reasoningbank_langgraph.experiments.summary import (
    NEAR_MEANING,
    NEAR_TEXT,
    ArmSummary,
    Comparison,
    Group,
    LeakAudit,
)
from reasoningbank_langgraph.experiments.training import AdapterSummary

QUESTIONS: dict[Group, str] = {
    "arm": "Is an arm better than the first one?",
    "control": "Is memory better than other text in its place, and an adapter than one of other data?",
    "levels": "Are lessons retrieved by levels better than the nearest ones?",
    "both": "Do memory and adapter add to each other?",
    "cycle": "Is a cycle better than the one before?",
    "same attempts": "Does memory add to several attempts?",
    "matts": "Is a bank learned by MaTTS better than an ordinary one?",
    "bank size": "Is a smaller bank better than the first arm?",
    "placebo": "Does other text in place of memory, or an adapter of other data, change anything?",
}
"""What the comparisons of a group answer."""


_SHOWN = {
    "adapter": ("The adapter was", "the solutions"),
    "memory": ("Memory was", "the lessons"),
    "examples": ("Examples were", "the examples"),
    "recurring": ("Examples of recurring tasks were", "the examples"),
}
"""Arms that have controls, and what they show or learned, for a sentence."""
NEAR_COPY = (
    f"more than {NEAR_TEXT:g} of the letters are the same, numbers and names set aside, or the cosine of the "
    f"embeddings is above {NEAR_MEANING:g}"
)
"""When two problems count as near copies. All pairs are compared."""


def points(share: float) -> str:
    """Return a difference of shares as signed percentage points."""
    return f"{share * 100:+.1f}".replace("-", "−") if round(share * 100, 1) else "0.0"


def points_interval(difference: Interval) -> str:
    """Return a difference with its interval."""
    return f"{points(difference.value)} points [{points(difference.low)}, {points(difference.high)}]"


def p_value(p: float) -> str:
    """Return a p value as people write it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def sentence(comparison: Comparison) -> str:
    """Say what a comparison means and what it does not."""
    return f"{claim(comparison)} {caveat(comparison)}".strip()


def claim(comparison: Comparison) -> str:
    """Say what was found, with its size and interval; where nothing was, also what the run could have shown."""
    if comparison.difference is None:
        return f"{comparison.arm} and {comparison.against} have no problem in common, so nothing can be said."
    figures = _figures(comparison, comparison.difference)
    if comparison.shown:
        verb = "gained on" if comparison.is_better else "lost to"
        return f"{comparison.arm} {verb} {comparison.against}: {figures}."
    return f"{_nothing(comparison)}: {figures}. {power(comparison)}"


def _nothing(comparison: Comparison) -> str:
    return f"No difference between {comparison.arm} and {comparison.against} could be shown"


def _figures(comparison: Comparison, difference: Interval) -> str:
    return f"{points_interval(difference)}, {_tested(comparison)}"


def caveat(comparison: Comparison) -> str:
    """Say that interval and test disagree, since one is about size and the other about counts; "" where they agree."""
    if comparison.shown or comparison.difference is None:
        return ""
    if comparison.p_holm < ALPHA:
        return "The test rules out chance, the interval does not, and both are required."
    if not comparison.difference.low <= 0 <= comparison.difference.high:
        return "The interval leaves out 0, the test does not: a hint, no finding."
    return ""


def conclusion(comparison: Comparison) -> str:
    """Return the sentence without its figures, for a place that has them already."""
    if comparison.difference is None:
        return "No problem in common."
    if not comparison.shown:
        return f"No difference shown. {power(comparison)} {caveat(comparison)}".strip()
    return f"{capital(comparison.arm)} is {'better' if comparison.is_better else 'worse'} than {comparison.against}."


def _tested(comparison: Comparison) -> str:
    return p_value(comparison.p_holm) + (
        f" adjusted for {comparison.tests} comparisons" if comparison.tests > 1 else ""
    )


def power(comparison: Comparison) -> str:
    """Say which true difference, in points, the exact test would have shown with a power of 80 % (`detectable`)."""
    if comparison.detectable is None:
        return (
            f"With {_count(comparison.problems, 'problem')} no difference of any size could have been shown reliably."
        )
    least = ceil(comparison.detectable * 100)
    return f"This run could have shown a true difference of {_count(least, 'point')} or more (in 4 of 5 such runs)."


def headline(comparisons: Sequence[Comparison]) -> str:
    """Return the sentence of the main comparison, and of how memory did against the controls."""
    return " ".join(filter(None, [headline_claim(comparisons), below_headline(comparisons)]))


def headline_claim(comparisons: Sequence[Comparison]) -> str:
    """Return the one sentence of an experiment: the main difference and its interval."""
    main = main_comparison(comparisons)
    return "There is nothing to compare yet." if main is None else capital(claim(main))


def below_headline(comparisons: Sequence[Comparison]) -> str:
    """Return what the headline says beyond its claim."""
    main = main_comparison(comparisons)
    if main is None:
        return ""
    controls = [one for one in comparisons if (one.group, one.arm) == ("control", main.arm) and one.difference]
    return " ".join(filter(None, [caveat(main), *_against_controls(controls)]))


def heading(comparisons: Sequence[Comparison]) -> str:
    """Return the heading of the page: the main claim, cut short where no difference was shown."""
    main = main_comparison(comparisons)
    if main is None or main.shown or main.difference is None:
        return headline_claim(comparisons)
    return f"{_nothing(main)}."


def below_heading(comparisons: Sequence[Comparison]) -> str:
    """Return what the heading leaves out of the headline, each sentence once."""
    main, below = main_comparison(comparisons), below_headline(comparisons)
    if main is None or main.shown or main.difference is None:
        return below
    could = "" if below.endswith(power(main)) else power(main)
    return " ".join(filter(None, [f"The difference is {_figures(main, main.difference)}.", could, below]))


def main_comparison(comparisons: Sequence[Comparison]) -> Comparison | None:
    """Return the comparison of adapter, memory or examples with the first arm, or of the last cycle, or the first."""
    of_arms = [comparison for comparison in comparisons if comparison.group == "arm"]
    if of_arms and of_arms[-1].arm.startswith(CYCLE):
        return of_arms[-1]
    with_memory = [one for name in _SHOWN for one in of_arms if one.arm == name]
    return next(iter([*with_memory, *of_arms]), None)


def _against_controls(controls: Sequence[Comparison]) -> Iterator[str]:
    shown, texts = _SHOWN[controls[0].arm] if controls else ("", "")
    beaten = [comparison.against for comparison in controls if comparison.shown and comparison.is_better]
    others = {
        comparison.against: points_interval(comparison.difference)
        for comparison in controls
        if comparison.difference and comparison.against not in beaten
    }
    if beaten:
        yield f"{shown} better than the control{'s' if len(beaten) > 1 else ''} {_and(beaten)}."
    if others:
        against = _and([f"{control} ({figures})" for control, figures in others.items()])
        yield f"{shown} not shown to be better than {against}: no gain can be put down to what {texts} say."
    unclear = [comparison for comparison in controls if not comparison.shown]
    if unclear:
        yield power(max(unclear, key=lambda one: inf if one.detectable is None else one.detectable))


def notes(
    config: ExperimentConfig,
    arms: Sequence[ArmSummary],
    comparisons: Sequence[Comparison],
    leaks: LeakAudit | None,
    adapters: Sequence[AdapterSummary] = (),
) -> list[str]:
    """Return what a reader should know before believing the figures."""
    on_arms = [*_on_size(config, arms, comparisons), *_on_method(config, arms), *_on_adapters(adapters)]
    return [*on_arms, *_on_tokens(arms), *_on_leaks(leaks)]


def _on_size(config: ExperimentConfig, arms: Sequence[ArmSummary], comparisons: Sequence[Comparison]) -> Iterator[str]:
    most = max((arm.problems for arm in arms if arm.compared), default=0)
    yield f"{_count(most, 'problem')}, {_count(len(config.seeds), 'seed')}, temperature {config.temperature:g}."
    if len(config.seeds) == 1:
        yield "One seed: how much a second run would differ from this one was not measured."
    else:
        yield "The seeds of a problem are averaged before anything is tested: the unit is the problem."
    errors = sum(arm.errors for arm in arms if arm.compared)
    if errors:
        yield f"{_count(errors, 'row')} failed with an error and were left out; a rerun tries again."
    left_out = max((comparison.left_out for comparison in comparisons), default=0)
    if left_out:
        yield f"Up to {_count(left_out, 'pair')} of a comparison lacked a row or had a failed one and were left out."
    if not config.fixed_k and any(arm.mode == "sequential" for arm in arms_of(config) if arm.attempts > 1):
        yield "Sequential arms end early where two checks in a row change nothing: k is the most, not the number made."
    expected = config.limit * len(config.seeds)
    if any(arm.rows < expected for arm in arms if arm.compared):
        yield f"Not every arm has the expected {expected} rows: the set is smaller, or the run has not ended."


def _on_method(config: ExperimentConfig, arms: Sequence[ArmSummary]) -> Iterator[str]:
    yield "Intervals are 95 % each; p values are adjusted for the number of comparisons (Holm), intervals are not."
    if config.protocol == "compound":
        yield "Each cycle learned and was trained once: how much another run of it would differ was not measured."
    if config.protocol == "stream":
        yield "In a stream a row depends on the rows before it through the bank; the intervals do not account for this."
    if config.judge == "oracle" and config.bank is None:
        yield "Reference answers taught the bank. An agent at work has none, and without them it may help less."
    with_memory = any(arm.compared and arm.shown for arm in arms)
    if with_memory and not {arm.arm for arm in arms} & {*CONTROLS} - {*TUNED}:
        yield "No control arm: a gain from memory could not be told from the gain from any longer prompt."
    copied = [arm.name for arm in arms_of(config) if arm.copies]
    if copied:
        yield (
            f"Near copies could be shown in {_and(copied)}, as where tasks come again: a gain there says nothing of "
            "new tasks."
        )


def _on_adapters(adapters: Sequence[AdapterSummary]) -> Iterator[str]:
    if not adapters:
        return
    names, sizes = [one.adapter for one in adapters], sorted({one.train for one in adapters})
    rows = " to ".join(f"{size:,}" for size in dict.fromkeys([sizes[0], sizes[-1]]))
    yield f"Adapters learned {rows} rows in an epoch, drawn by chance where there were more: {_and(names)}."
    if "adapter-other" not in names:
        yield "No adapter learned right solutions of other problems: a gain may come from any right solutions."
    yield "An adapter was trained once: how much a second training would differ was not measured."


def _on_tokens(arms: Sequence[ArmSummary]) -> Iterator[str]:
    compared = [arm for arm in arms if arm.compared and _tokens(arm)]
    times = {arm.arm: _tokens(arm) / _tokens(compared[0]) for arm in compared[1:]}
    costlier = [f"{arm} {factor:.1f} times" for arm, factor in times.items() if factor >= 1.05]
    if costlier:
        yield f"Tokens read and written, against {compared[0].arm}: {', '.join(costlier)}."


def _tokens(arm: ArmSummary) -> float:
    return arm.tokens_in + arm.tokens_out


def _on_leaks(leaks: LeakAudit | None) -> Iterator[str]:
    if leaks is None:
        yield "The texts of this run are not here, so nobody looked whether a memory gave an answer away."
        return
    if leaks.near_rows:
        share = leaks.near_rows / leaks.learning_rows * 100
        yield (
            f"{leaks.near_rows:,} of {_count(leaks.learning_rows, 'row')} ({share:.0f} %) had a near copy of "
            f"their problem among those learned from: {NEAR_COPY}."
        )
    if leaks.flagged:
        yield f"The leak audit names {_count(len(leaks.flagged), 'problem')}: see the differences “without flagged”."
    if leaks.dropped:
        yield f"The leak guard held back {_count(leaks.dropped, 'item')} that would have given an answer away."


def capital(text: str) -> str:
    """Return a sentence with a capital at its start."""
    return text[:1].upper() + text[1:]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
