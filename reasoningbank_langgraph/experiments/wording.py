"""Figures as sentences, for readers who do not know what a p value is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.stats import Interval
from reasoningbank_langgraph.experiments.summary import ArmSummary, Comparison, Group, LeakAudit

QUESTIONS: dict[Group, str] = {
    "arm": "Is an arm better than the first one?",
    "control": "Is memory better than other text in its place?",
    "same attempts": "Does memory add to several attempts?",
    "bank size": "Is a smaller bank better than the first arm?",
    "placebo": "Does other text in place of memory change anything?",
}
"""What the comparisons of a group answer."""


def points(share: float) -> str:
    """Return a difference of shares as signed percentage points."""
    return f"{share * 100:+.1f}".replace("-", "−") if round(share * 100, 1) else "0.0"


def points_interval(difference: Interval) -> str:
    """Return a difference with its interval."""
    return f"{points(difference.value)} points [{points(difference.low)}, {points(difference.high)}]"


def p_value(p: float) -> str:
    """Return a p value as people write it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def sentence(found: Comparison) -> str:
    """Say what a comparison means and what it does not."""
    return f"{claim(found)} {caveat(found)}".strip()


def claim(found: Comparison) -> str:
    """Say what was found, with its size and interval."""
    if found.difference is None:
        return f"{found.arm} and {found.against} have no problem in common, so nothing can be said."
    told = f"{points_interval(found.difference)}, {_tested(found)}"
    if found.shown:
        verb = "gained on" if found.difference.value > 0 else "lost to"
        return f"{found.arm} {verb} {found.against}: {told}."
    return f"No difference between {found.arm} and {found.against} could be shown: {told}."


def caveat(found: Comparison) -> str:
    """Say what a run that showed nothing could have shown; "" for one that did."""
    return "" if found.shown or found.difference is None else f"{_power(found)}{_split(found)}"


def conclusion(found: Comparison) -> str:
    """Return the sentence without its figures, for a place that has them already."""
    if found.difference is None:
        return "No problem in common."
    if not found.shown:
        return f"No difference shown. {caveat(found)}"
    return f"{_capital(found.arm)} is {'better' if found.difference.value > 0 else 'worse'} than {found.against}."


def _tested(found: Comparison) -> str:
    return p_value(found.p_holm) + (f" adjusted for {found.tests} comparisons" if found.tests > 1 else "")


def _power(found: Comparison) -> str:
    if found.detectable is None:
        return f"With {_count(found.problems, 'problem')} no difference of any size could have been shown reliably."
    least = f"{found.detectable * 100:.0f}"
    return f"This run could have shown a true difference of {least} points or more (in 4 of 5 such runs)."


def _split(found: Comparison) -> str:
    """The interval and the test can disagree, since one is about size and the other about counts of problems."""
    assert found.difference is not None  # noqa: S101 - asked before
    if found.p_holm < 0.05:
        return " The test leaves out chance, the interval does not, and both are asked for."
    if not found.difference.low <= 0 <= found.difference.high:
        return " The interval leaves out 0, the test does not: a hint, no finding."
    return ""


def headline(comparisons: Sequence[Comparison]) -> str:
    """Return the sentence of the main comparison, and of how memory did against the controls."""
    return " ".join(filter(None, [headline_claim(comparisons), below_headline(comparisons)]))


def headline_claim(comparisons: Sequence[Comparison]) -> str:
    """Return the one sentence of an experiment: the main difference and its interval."""
    main = main_comparison(comparisons)
    return "There is nothing to compare yet." if main is None else _capital(claim(main))


def below_headline(comparisons: Sequence[Comparison]) -> str:
    """Return what the headline says beyond its claim."""
    main = main_comparison(comparisons)
    if main is None:
        return ""
    controls = [found for found in comparisons if found.group == "control" and found.difference is not None]
    return " ".join(filter(None, [caveat(main), *_against_controls(controls)]))


def main_comparison(comparisons: Sequence[Comparison]) -> Comparison | None:
    """Return the comparison of memory with the first arm, else the first there is."""
    of_arms = [found for found in comparisons if found.group == "arm"]
    named = [found for found in of_arms if found.arm == "memory"]
    return next(iter([*named, *of_arms]), None)


def _against_controls(controls: Sequence[Comparison]) -> Iterator[str]:
    beaten = [found.against for found in controls if found.shown and found.difference and found.difference.value > 0]
    others = [found.against for found in controls if found.against not in beaten]
    if beaten:
        yield f"Memory was better than the control{'s' if len(beaten) > 1 else ''} {_and(beaten)}."
    if others:
        yield f"Memory was not shown to be better than {_and(others)}: no gain can be put down to what the lessons say."


def notes(
    config: ExperimentConfig, arms: Sequence[ArmSummary], comparisons: Sequence[Comparison], leaks: LeakAudit
) -> list[str]:
    """Return what a reader should know before believing the figures."""
    return [*_on_size(config, arms, comparisons), *_on_method(config, arms), *_on_tokens(arms), *_on_leaks(leaks)]


def _on_size(config: ExperimentConfig, arms: Sequence[ArmSummary], comparisons: Sequence[Comparison]) -> Iterator[str]:
    most = max((arm.problems for arm in arms if arm.compared), default=0)
    yield f"{_count(most, 'problem')}, {_count(len(config.seeds), 'seed')}, temperature {config.temperature:g}."
    if len(config.seeds) == 1:
        yield "One seed: how much a second run would differ from this one was not measured."
    else:
        yield "A problem's seeds are averaged before anything is tested: problems are what is counted."
    errors = sum(arm.errors for arm in arms if arm.compared)
    if errors:
        yield f"{_count(errors, 'row')} failed with an error and count as wrong; a rerun tries them again."
    left_out = max((found.left_out for found in comparisons), default=0)
    if left_out:
        yield f"Up to {_count(left_out, 'row')} of a comparison had no counterpart in the other arm and were left out."
    wanted = config.limit * len(config.seeds)
    if any(arm.rows < wanted for arm in arms if arm.compared):
        yield f"Not every arm has the {wanted} rows that were asked for: the set is smaller, or the run has not ended."


def _on_method(config: ExperimentConfig, arms: Sequence[ArmSummary]) -> Iterator[str]:
    yield "Intervals are 95 % each; p values are adjusted for the number of comparisons (Holm), intervals are not."
    if config.protocol == "stream":
        yield "In a stream a row depends on the rows before it through the bank; the intervals do not know this."
    if config.judge == "oracle":
        yield "Reference answers taught the bank. An agent at work has none, and without them it may help less."
    with_memory = any(arm.compared and arm.shown for arm in arms)
    if with_memory and not {arm.arm for arm in arms} & {"filler", "shuffled", "random"}:
        yield "No control arm: a gain of memory could not be told from that of any longer prompt."


def _on_tokens(arms: Sequence[ArmSummary]) -> Iterator[str]:
    compared = [arm for arm in arms if arm.compared and _tokens(arm)]
    times = {arm.arm: _tokens(arm) / _tokens(compared[0]) for arm in compared[1:]}
    dear = [f"{arm} {factor:.1f} times" for arm, factor in times.items() if factor >= 1.05]
    if dear:
        yield f"Tokens read and written, against {compared[0].arm}: {', '.join(dear)}."


def _tokens(arm: ArmSummary) -> float:
    return arm.tokens_in + arm.tokens_out


def _on_leaks(leaks: LeakAudit) -> Iterator[str]:
    if leaks.flagged:
        yield f"The leak audit names {_count(len(leaks.flagged), 'problem')}: see the differences “without flagged”."
    if leaks.dropped:
        yield f"The leak guard held back {_count(leaks.dropped, 'item')} that would have given an answer away."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
