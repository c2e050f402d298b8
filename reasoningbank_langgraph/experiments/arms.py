"""The arms of an experiment: what each shows the solver, and how many attempts it makes."""

from __future__ import annotations

from typing import Literal, NamedTuple

from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.matts import Scaling

Memory = Literal["none", "retrieved", "shuffled", "random", "filler"]
Mode = Literal["parallel", "sequential"]


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

    @property
    def scaling(self) -> Scaling | None:
        """Its settings of MaTTS. The majority selects: the reference has no say in an answer that is graded by it."""
        if self.attempts == 1:
            return None
        return Scaling(k=self.attempts, mode=self.mode, select="majority", all_checks=self.fixed_k)


def arms_of(config: ExperimentConfig) -> list[Arm]:
    """Return the arms a configuration asks for, each once; the first is what the others are compared with."""
    arms = _scaling_arms(config) if config.protocol == "scaling" else _named_arms(config)
    return list({arm.name: arm._replace(fixed_k=config.fixed_k) for arm in arms}.values())


def _named_arms(config: ExperimentConfig) -> list[Arm]:
    arms: list[Arm] = []
    for name in config.arms:
        if name.startswith("matts"):
            arms += _several_attempts(config, memory=name.endswith("+memory"))
        else:
            arms.append(_single(name))
    return [*arms, *(Arm(f"memory-{size}", "retrieved", bank=size) for size in sorted(config.bank_sizes))]


def _single(name: str) -> Arm:
    kinds: dict[str, Memory] = {
        "baseline": "none",
        "memory": "retrieved",
        "shuffled": "shuffled",
        "random": "random",
        "filler": "filler",
    }
    return Arm(name, kinds[name])


def _scaling_arms(config: ExperimentConfig) -> list[Arm]:
    """Memory or none, times the attempts, times the modes (paper section 4.3)."""
    alone = [Arm("baseline"), Arm("memory", "retrieved")]
    return [*alone, *_several_attempts(config, memory=False), *_several_attempts(config, memory=True)]


def _several_attempts(config: ExperimentConfig, *, memory: bool) -> list[Arm]:
    kind: Memory = "retrieved" if memory else "none"
    return [
        Arm(f"matts-{mode}-{attempts}{'+memory' if memory else ''}", kind, attempts, mode)
        for mode in config.modes
        for attempts in config.attempts
        if attempts > 1
    ]
