"""From rows to a summary."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from reasoningbank_langgraph.experiments.arms import (
    CYCLE,
    Arm,
    arms_of,
    learners_of,
    samplers_of,
    teachers_of,
    unaided_name,
)
from reasoningbank_langgraph.experiments.config import CONTROLS, TRAINING, ExperimentConfig
from reasoningbank_langgraph.experiments.leaks.audit import audit_leaks
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.stats import (
    ALPHA,
    Key,
    detectable,
    holm,
    mcnemar_p,
    mean_difference,
    pair,
    share,
)
from reasoningbank_langgraph.experiments.summary import (
    ArmSummary,
    Comparison,
    Group,
    JudgeTable,
    LeakAudit,
    NearDuplicate,
    Origin,
    RowId,
    Summary,
)
from reasoningbank_langgraph.experiments.terciles import terciles
from reasoningbank_langgraph.experiments.training import AdapterSummary, CycleSummary, Retest
from reasoningbank_langgraph.experiments.wording import headline, notes, sentence
from reasoningbank_langgraph.judges.audit import Confusion

Rows = Mapping[str, Sequence[ResultRow]]
"""By arm."""
_ALSO: dict[tuple[str, str], Group] = {
    ("levels", "memory"): "levels",
    ("adapter+memory", "adapter"): "both",
    ("adapter+memory", "memory"): "both",
}
"""Arms that are compared with each other besides, where none of them is the first."""
_WHO_JUDGED = {
    "nobody": "The bank was there before the run; who judged what it learned from is not known here.",
    "oracle": "The attempts the bank learned from were judged by the reference answers (judge: oracle).",
    "self": "The attempts the bank learned from were judged by a model that did not see the reference answers "
    "(judge: self).",
}


def summarise(
    rows: Sequence[ResultRow],
    config: ExperimentConfig,
    duplicates: Sequence[NearDuplicate] = (),
    origin: Origin | None = None,
    leaks: LeakAudit | None = None,
    adapters: Sequence[AdapterSummary] = (),
    cycles: Sequence[CycleSummary] = (),
) -> Summary:
    """Return everything the rows of an experiment say.

    Args:
        rows: of all arms; those of the arm the bank was learned in are counted, not compared.
        config: the settings: its arms give the order, and who is compared with whom.
        duplicates: train and test problems that are nearly the same.
        origin: models and problems of the run.
        leaks: what the audit found while the texts were there; used where a row has none.
        adapters: what those of the run were made from.
        cycles: what each of protocol `compound` brought.

    Raises:
        MissingDependencyError: the extra `experiments` is not installed.
    """
    by_arm, configured = _by_arm(rows, config), arms_of(config)
    compared = [arm for arm in configured if arm.name in by_arm]
    names = [arm.name for arm in compared]
    if all(row.has_texts for row in rows):
        leaks = audit_leaks(rows, duplicates, names)
    arms = [_arm(name, arm_rows, config, compared=name in names) for name, arm_rows in by_arm.items()]
    comparisons = _comparisons(configured[0].name, compared, by_arm, set(leaks.flagged if leaks else ()))
    return Summary(
        config=config,
        origin=origin,
        headline=headline(comparisons),
        taught_by=_WHO_JUDGED["nobody" if config.bank else config.judge],
        arms=tuple(arms),
        comparisons=tuple(comparisons),
        leaks=leaks,
        judges=tuple(_judges(by_arm)),
        retests=tuple(_retests(configured[0].name, by_arm, compared)) if config.protocol in TRAINING else (),
        adapters=tuple(adapters),
        cycles=tuple(cycles),
        terciles=tuple(terciles(configured[0].name, compared, by_arm)),
        notes=(*notes(config, arms, comparisons, leaks, adapters), *_not_learned(config, by_arm)),
    )


def _by_arm(rows: Sequence[ResultRow], config: ExperimentConfig) -> dict[str, list[ResultRow]]:
    """Rows by arm, in the order of the configuration, then the rest."""
    grouped: dict[str, list[ResultRow]] = defaultdict(list)
    for row in rows:
        grouped[row.arm].append(row)
    order = [arm.name for arm in arms_of(config) if arm.name in grouped]
    return {name: grouped[name] for name in [*order, *(name for name in grouped if name not in order)]}


def _arm(name: str, rows: Sequence[ResultRow], config: ExperimentConfig, *, compared: bool) -> ArmSummary:
    any_right = {(row.seed, row.id): row.pass_at_k for row in rows if row.pass_at_k is not None}
    nearest = [max(row.scores) for row in rows if row.scores]
    sound = [row for row in rows if row.error is None]
    tokens_in, tokens_out = _mean([row.tokens_in for row in sound]), _mean([row.tokens_out for row in sound])
    return ArmSummary(
        arm=name,
        compared=compared,
        rows=len(rows),
        problems=len({row.id for row in rows}),
        right=sum(row.right for row in rows),
        accuracy=share(_outcomes(rows)),
        pass_at_k=share(any_right) if any_right else None,
        attempts=_mean([row.attempts for row in sound]),
        errors=len(rows) - len(sound),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        seconds=_mean([row.seconds for row in sound]),
        cost=config.cost(tokens_in, tokens_out),
        learned=sum(row.learned for row in rows),
        bank=max(row.bank + row.learned for row in rows) if compared else sum(row.learned for row in rows),
        shown=_mean([bool(row.memory_length) for row in sound]),
        similarity=_mean(nearest) if nearest else None,
    )


def _comparisons(first: str, arms: Sequence[Arm], rows: Rows, flagged: Collection[str]) -> list[Comparison]:
    pairs = list(_pairs_to_compare(first, arms))
    tests = Counter(group for _, _, group in pairs)
    drafts = [
        _comparison(arm, against, group, rows[arm], rows[against], tests[group], flagged)
        for arm, against, group in pairs
    ]
    return [draft.model_copy(update={"says": sentence(draft)}) for draft in _adjusted(drafts)]


def _pairs_to_compare(first: str, arms: Sequence[Arm]) -> Iterator[tuple[str, str, Group]]:
    """Every arm with the first; a memory with its controls; levels with none; several attempts with as many alone."""
    names = [arm.name for arm in arms]
    others = [arm for arm in arms if arm.name != first]
    for arm in others if first in names else ():
        yield arm.name, first, "bank size" if arm.bank else "placebo" if arm.name in CONTROLS else "arm"
    for control in [arm.name for arm in others if arm.name in CONTROLS]:
        yield from ((name, control, "control") for name in CONTROLS[control] if name in {*names} - {first})
    for (arm_name, other), group in _ALSO.items():
        if {arm_name, other} <= {*names} - {first}:
            yield arm_name, other, group
    cycles = [name for name in names if name.startswith(CYCLE)]
    yield from ((one, before, "cycle") for before, one in pairwise(cycles[1:]))
    for arm in arms:
        alone = unaided_name(arm)
        if alone in names and alone not in (first, arm.name):
            yield arm.name, alone, "same attempts"
        if arm.matts and f"{alone}+memory" in names:
            yield arm.name, f"{alone}+memory", "matts"


def _comparison(
    arm: str,
    against: str,
    group: Group,
    rows: Sequence[ResultRow],
    others: Sequence[ResultRow],
    tests: int,
    flagged: Collection[str],
) -> Comparison:
    paired = pair(_outcomes(others), _outcomes(rows))
    begun = {(row.seed, row.id) for row in (*rows, *others)}
    differences = list(paired.differences.values())
    clean = [difference for problem, difference in paired.differences.items() if problem not in flagged]
    p = mcnemar_p(paired.better, paired.worse)
    return Comparison(
        arm=arm,
        against=against,
        group=group,
        problems=len(differences),
        pairs=paired.pairs,
        left_out=len(begun) - paired.pairs,
        difference=mean_difference(differences),
        fixed=tuple(RowId(seed=seed, id=problem) for seed, problem in paired.fixed),
        broken=tuple(RowId(seed=seed, id=problem) for seed, problem in paired.broken),
        better=paired.better,
        worse=paired.worse,
        p=p,
        p_holm=p,
        tests=tests,
        detectable=detectable(differences, ALPHA / tests),
        unflagged=mean_difference(clean) if len(clean) < len(differences) else None,
        unflagged_problems=len(clean),
        says="",
    )


def _retests(first: str, rows: Rows, arms: Sequence[Arm]) -> Iterator[Retest]:
    """Yield what each arm made of what the first one missed, and of what it had right."""
    before = _outcomes(rows.get(first, ()))
    for arm in arms:
        both = {key: right for key, right in _outcomes(rows[arm.name]).items() if key in before}
        missed = {key: right for key, right in both.items() if not before[key]}
        had = {key: not right for key, right in both.items() if before[key]}
        if arm.name != first:
            yield Retest(arm=arm.name, solved=share(missed), missed=len(missed), broken=share(had), had=len(had))


def _adjusted(drafts: Sequence[Comparison]) -> list[Comparison]:
    """Put in Holm's p values, group by group."""
    groups = {draft.group: [other for other in drafts if other.group == draft.group] for draft in drafts}
    return [
        draft.model_copy(update={"p_holm": p})
        for group in groups.values()
        for draft, p in zip(group, holm([draft.p for draft in group]), strict=True)
    ]


def _judges(rows: Rows) -> Iterator[JudgeTable]:
    for arm, arm_rows in rows.items():
        judged = [(row.verdict, row.right) for row in arm_rows if row.verdict is not None]
        if judged:
            yield JudgeTable(arm=arm, **Confusion.of_verdicts(judged)._asdict())


def _not_learned(config: ExperimentConfig, rows: Rows) -> Iterator[str]:
    lacking = {
        teacher.name: f"The bank of {teacher.name} lacks what these problems would have taught"
        for teacher in teachers_of(config)
    }
    for arm in (*samplers_of(config), *learners_of(config)):
        lacking[arm.name] = f"No solutions of these problems were learned from in {arm.name}"
    for name, lack in lacking.items():
        if failed := [row.id for row in rows.get(name, ()) if row.error is not None]:
            yield f"{lack}: {', '.join(failed)}."


def _outcomes(rows: Sequence[ResultRow]) -> dict[Key, bool]:
    """A row that failed says nothing of its arm."""
    return {(row.seed, row.id): row.right for row in rows if row.error is None}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)
