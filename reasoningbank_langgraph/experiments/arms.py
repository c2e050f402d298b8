"""The arms of an experiment: what each shows the solver, and how often it tries."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from reasoningbank_langgraph.experiments.config import TUNED, ExperimentConfig, Protocol, guarded_by
from reasoningbank_langgraph.matts import Scaling
from reasoningbank_langgraph.matts.scaling import MemoryUse
from reasoningbank_langgraph.prompts import EVERY_STEP

Memory = Literal["none", "retrieved", "shuffled", "random", "filler", "examples", "random examples", "written example"]
Mode = Literal["parallel", "sequential"]

LEARNING = "learning"
"""Name of the arm under which the rows of the train problems stand."""
SAMPLES, OTHER_SAMPLES = f"{LEARNING}-samples", f"{LEARNING}-other"
"""Arms that solve the train problems, and others, several times: adapters learn from their solutions."""
CYCLE = "cycle-"
"""Begins the names of the arms of protocol `compound`: the base is `cycle-0`."""
_EARLIER = re.compile(r"matts-(parallel|sequential)-(\d+)(\+memory)?")


class Arm(NamedTuple):
    """One way to solve the test problems."""

    name: str
    memory: Memory = "none"
    attempts: int = 1
    mode: Mode = "parallel"
    bank: int | None = None
    """Train problems its bank is made from; None for all."""
    fixed_k: bool = False
    """Whether every attempt is made, also where a sequential one would end early."""
    matts: bool = False
    """Whether its bank is learned by MaTTS: from the contrast of as many attempts at a problem as it makes itself."""
    use: MemoryUse = "all"
    """Which of its attempts see the memory."""
    agreement: float = 1.0
    """As `Scaling.agreement`."""
    levels: bool = False
    """Whether it retrieves by levels, from a bank in which near copies are linked."""
    copies: bool = False
    """Whether its examples may be near copies of the problem: the same with other numbers."""
    more: str = ""
    """Rules for the solver beside the usual ones."""
    solver: str = ""
    """Names the model that solves, where it is not the one of the experiment: that with the adapter of this arm."""

    def scaling(self, at_once: int | None = None) -> Scaling | None:
        """Return its settings of MaTTS, None for one attempt.

        The majority selects: the reference has no say in an answer that is graded by it.

        Args:
            at_once: attempts at one problem that run at the same time; None for all.
        """
        if self.attempts == 1:
            return None
        return Scaling(
            k=self.attempts,
            mode=self.mode,
            select="majority",
            max_concurrency=at_once,
            all_checks=self.fixed_k,
            memory=self.use,
            agreement=self.agreement,
        )

    @property
    def shows_examples(self) -> bool:
        """Whether attempts are what it shows, and not lessons."""
        return self.memory in ("examples", "random examples", "written example")

    @property
    def guards(self) -> str:
        """Names the arm with memory where a guard chooses between its rows and the baseline's; "" for all others."""
        return guarded_by(self.name)

    @property
    def teacher(self) -> Arm:
        """The arm in which its bank is learned from train problems: without a memory, so in any order."""
        if not self.matts:
            return Arm(LEARNING)
        name = f"{LEARNING}-{_attempts_name(self.mode, self.attempts)}"
        return self._replace(name=name, memory="none", bank=None)


def arms_of(config: ExperimentConfig) -> list[Arm]:
    """Return the arms a configuration asks for, each once; the first is what the others are compared with."""
    makers = {"scaling": _scaling_arms, "compound": _cycle_arms}
    arms = makers.get(config.protocol, _named_arms)(config)
    return list({arm.name: arm._replace(fixed_k=config.fixed_k) for arm in arms}.values())


def teachers_of(config: ExperimentConfig) -> list[Arm]:
    """Return the arms in which the banks of a configuration are learned from train problems."""
    if config.protocol in ("stream", "compound") or config.bank is not None:
        return []
    return list({arm.teacher.name: arm.teacher for arm in arms_of(config) if arm.memory != "none"}.values())


def samplers_of(config: ExperimentConfig) -> list[Arm]:
    """Return the arms whose solutions adapters learn from: of the train problems, and of others where there are some.

    They make their attempts without a memory, as the first arm is asked.
    """
    if config.protocol != "self-improve":
        return []
    names = [SAMPLES, *([OTHER_SAMPLES] if config.other_train else [])]
    return [Arm(name, attempts=config.samples) for name in names]


def present_name(arm: str, protocol: Protocol) -> str:
    """Return the name of an arm as it is now: rows of earlier versions say MaTTS of what was a vote."""
    earlier = _EARLIER.fullmatch(arm)
    if earlier is None:
        return arm
    mode: Mode = "parallel" if earlier[1] == "parallel" else "sequential"
    shown = {None: "", "+memory": "+matts" if protocol == "stream" else "+memory"}[earlier[3]]
    return f"{_attempts_name(mode, int(earlier[2]))}{shown}"


def _named_arms(config: ExperimentConfig) -> list[Arm]:
    arms: list[Arm] = []
    for name in config.arms:
        kind, _, bank = name.partition("+")
        if kind == "vote":
            arms += _several(config, bank)
        else:
            arms += _partly_aided(config, kind, bank) if kind in ("half", "gated") else [_single(name)]
    return [*arms, *(Arm(f"memory-{size}", "retrieved", bank=size) for size in sorted(config.bank_sizes))]


def _single(name: str) -> Arm:
    kinds: dict[str, Memory] = {
        "baseline": "none",
        "memory": "retrieved",
        "shuffled": "shuffled",
        "random": "random",
        "filler": "filler",
        "examples": "examples",
        "examples-random": "random examples",
        "recurring": "examples",
        "recurring-random": "random examples",
        "written": "written example",
        "levels": "retrieved",
        "long": "none",
        **dict.fromkeys(TUNED, "none"),
        "adapter+memory": "retrieved",
    }
    solver = name.partition("+")[0] if name in TUNED else ""
    shown = guarded_by(name) or name
    more, copies = EVERY_STEP if name == "long" else "", shown.startswith("recurring")
    return Arm(name, kinds[shown], levels=name == "levels", copies=copies, more=more, solver=solver)


def _partly_aided(config: ExperimentConfig, kind: str, shown: str) -> list[Arm]:
    """Return the arms of which some attempts see the memory: those of a half, or those after a disagreement."""
    use: MemoryUse = "half" if kind == "half" else "on_disagreement"
    memory: Memory = "examples" if shown else "retrieved"
    copies = shown == "recurring"
    suffix = f"+{shown}" if shown else ""
    return [
        Arm(f"{kind}-{attempts}{suffix}", memory, attempts, use=use, agreement=config.agreement, copies=copies)
        for attempts in config.attempts
        if attempts >= (2 if kind == "half" else 3)
    ]


def _scaling_arms(config: ExperimentConfig) -> list[Arm]:
    """No bank, an ordinary one or one of MaTTS, times the attempts, times the modes (paper section 4.3)."""
    several = [arm for bank in ("", "memory", "matts") for arm in _several(config, bank)]
    return [Arm("baseline"), Arm("memory", "retrieved"), *several]


def _cycle_arms(config: ExperimentConfig) -> list[Arm]:
    """The base alone, and what each cycle has left: the model as it is then, with the memory of the bank so far."""
    after = [f"{CYCLE}{number}" for number in range(1, config.cycles + 1)]
    return [Arm(f"{CYCLE}0"), *(Arm(name, "retrieved", solver=name) for name in after)]


def learners_of(config: ExperimentConfig) -> list[Arm]:
    """Return the arms of protocol `compound` that solve the train problems, one a cycle: by MaTTS, with the bank."""
    if config.protocol != "compound":
        return []
    names = [f"{LEARNING}-{number}" for number in range(1, config.cycles + 1)]
    return [Arm(name, "retrieved", config.samples, matts=True) for name in names]


def _several(config: ExperimentConfig, bank: str) -> list[Arm]:
    """Return the arms of several attempts.

    Args:
        config: says how many attempts there are, and in which modes.
        bank: with no bank (""), an ordinary one ("memory") or one of MaTTS ("matts"), or "examples" or "recurring".
    """
    kind: Memory = "none" if not bank else "retrieved" if bank in ("memory", "matts") else "examples"
    suffix, copies = f"+{bank}" if bank else "", bank == "recurring"
    return [
        Arm(f"{_attempts_name(mode, attempts)}{suffix}", kind, attempts, mode, matts=bank == "matts", copies=copies)
        for mode in config.modes
        for attempts in config.attempts
        if attempts > 1
    ]


def unaided_name(arm: Arm) -> str | None:
    """Return the name of the arm that makes as many attempts without memory, None for a single one."""
    return _attempts_name(arm.mode, arm.attempts) if arm.attempts > 1 else None


def _attempts_name(mode: Mode, attempts: int) -> str:
    """Several side by side are put to the vote; of one after the other, the first is checked again and again."""
    return f"{'vote' if mode == 'parallel' else 'checked'}-{attempts}"
