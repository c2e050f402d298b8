"""One cycle of protocol `compound`, in steps that are made once: learn, harvest, tune, accept, measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.errors import ExperimentError, FrozenBankError, HarvestError
from reasoningbank_langgraph.experiments.arms import CYCLE, Arm, learners_of
from reasoningbank_langgraph.experiments.learning import LEARNED, Learner
from reasoningbank_langgraph.experiments.training import CycleSummary
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.train.harvest import read_card
from reasoningbank_langgraph.train.harvest.card import CARD
from reasoningbank_langgraph.train.harvest.folder import check_free
from reasoningbank_langgraph.train.improvement.variety import Variety
from reasoningbank_langgraph.train.improvement.workshop import FOLDER, TRAINING, Workshop, tune_in
from reasoningbank_langgraph.train.rows import TRAIN, VALIDATION

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.experiments.run import Run

_STREAM = "stream"


class Cycle:
    """One cycle in the folder of a run. Steps that were made are passed over, so a cycle that was killed goes on.

    Args:
        run: the experiment, with its problems, models and rows.
        before: what the cycles before it brought.
        base: the model that is tuned.
        workshop: trains, tries and serves adapters.
    """

    def __init__(self, run: Run, before: Sequence[CycleSummary], base: Path, workshop: Workshop) -> None:
        self.run, self.before, self.base, self.workshop = run, before, base, workshop
        self.number = number = len(before) + 1
        self.name, self.arm = f"{CYCLE}{number}", learners_of(run.config)[number - 1]
        self.seed = run.config.seeds[0] + number
        """Of the attempts at the train problems: with the seed of the last cycle they would be the same again."""
        self.data = run.out / TRAINING / self.name

    def carry_out(self) -> CycleSummary:
        """Go through the steps that are missing and return what they brought.

        Raises:
            FrozenBankError: the bank lacks lessons of the last cycle.
            UnlearnedProblemsError: train or test problems failed, and they are not to be left out.
            HarvestError: something else stands where the training data belongs.
            TuneError: the model cannot be tuned.
            ExperimentError: the base is another file by now, or another adapter is in use than the last cycle left.
            TrialError: the validation problems cannot decide.
            ModelError: a model cannot be used.
        """
        self._require_what_was_left()
        self._learn()
        reason = self._harvest()
        told = {"accepted": False, "reason": reason} if reason else self._tune_and_accept()
        with self._bank() as bank:
            self.run.compare({self.name: self.run.memory(self._measured, bank)})
            for seed in self.run.config.seeds:  # later, bank and model are others
                self.run.sound(self._measured, self.run.problems.test, seed)
            items = bank.totals().items
        return CycleSummary(cycle=self.number, bank=items, rows=self._rows(), **self._variety()._asdict(), **told)

    @cached_property
    def _measured(self) -> Arm:
        return next(arm for arm in self.run.arms if arm.name == self.name)

    def _require_what_was_left(self) -> None:
        """Refuse to begin from less than the last cycle left, as in a folder that git brought, or after a rollback.

        Raises:
            FrozenBankError: the bank lacks lessons.
            ExperimentError: the adapter that is in use is another one.
        """
        left = next((f"{CYCLE}{one.cycle}" for one in reversed(self.before) if one.accepted), None)
        in_use = self.workshop.in_use(self.run.out / FOLDER)
        if in_use not in (left, self.name):
            there, wanted = (f"the adapter {name}" if name else "the base" for name in (in_use, left))
            problem = f"{there} is in use, and the cycles before this one left {wanted}"
            raise ExperimentError(f"{problem}: bring {self.run.out / FOLDER} back, or begin again in another folder")
        with self._bank() as bank:
            held, least = bank.totals().items, self.before[-1].bank if self.before else 0
        if held < least:
            raise FrozenBankError(self.arm.name, f"holds {held} lessons, and the last cycle left {least}")

    def _learn(self) -> None:
        """Solve the train problems with the model and the bank as they are, and learn from each on the way."""
        train, results = self.run.problems.train, self.run.results
        is_over = (self.data / CARD).exists() or any(row.arm == self.name for row in results.rows)
        if is_over or all(results.has(self.arm.name, self.seed, problem.id) for problem in train):
            return
        with model_in_use(self.run, self.workshop) as chat, self._store() as store:
            learner = self._learner(chat)
            with learner.opened(store, filled=self.number > 1):
                for row in learner.work(results, store):
                    self.run.record(row)
        self.run.sound(self.arm, train, self.seed)

    def _learner(self, chat: BaseChatModel) -> Learner:
        run, folder = self.run, self.run.out / _STREAM / self.arm.name
        train = run.problems.train
        return Learner(folder, chat, run.models.critic, run.config, self.arm, self.seed, train, run.at_once)

    def _harvest(self) -> str:
        """Harvest what all cycles so far have solved; return why there is nothing to learn, "" if there is."""
        config = self.run.config
        assert config.validation is not None  # noqa: S101 - the protocol has some
        if not (self.data / CARD).exists():
            check_free(self.data)
            not_in = [config.test, config.validation]
            try:
                with self._bank() as bank:
                    bank.harvest(self.data, not_in=not_in, embeddings=self.run.models.embeddings)
            except HarvestError as error:
                return str(error)
        lacking = [name for name in (TRAIN, VALIDATION) if name not in read_card(self.data).files]
        return f"nothing was harvested for {lacking[0]}" if lacking else ""

    def _tune_and_accept(self) -> dict[str, Any]:
        """Tune the base anew, and have the adapter used if it is better than the base and than the one in use."""
        config, out = self.run.config, self.run.out
        tune_in(out, self.name, self.data, self.base, config, self.workshop)
        decision = self.workshop.accept(out / FOLDER / self.name, config.validation, max_tokens=config.max_tokens)
        is_new = decision.outcome == "accepted" and decision.adapter == self.name
        told: dict[str, Any] = {"accepted": is_new, "reason": "accepted" if is_new else "not better"}
        if (trial := decision.trial) is None:
            return told
        base = next(one for one in trial.comparisons if not one.rival)
        if not is_new and base.is_better(trial.level):
            told["reason"] = "not better than the adapter in use"
        tried = {"tried": base.problems, "tried_right": base.right, "base_right": base.rival_right, "p": base.p}
        return told | tried

    def _rows(self) -> int:
        """Count the rows that were harvested."""
        if not (self.data / CARD).exists():
            return 0
        files = read_card(self.data).files
        return sum(files[name].rows for name in (TRAIN, VALIDATION) if name in files)

    def _variety(self) -> Variety:
        """Count what the attempts of this cycle are like; their texts are in the threads of its learner."""
        with self._store() as store, self._learner(self.run.models.solver).opened(store, filled=True) as learner:
            solved = self.run.solved(self.arm, self.run.problems.train, self.seed)
            return Variety.of({problem: learner.replies(problem) for problem in solved})

    @contextmanager
    def _bank(self) -> Iterator[MemoryBank]:
        with self._store() as store:
            yield MemoryBank(store, LEARNED, match=self.run.config.match)

    def _store(self) -> ChromaStore:
        return ChromaStore.from_path(self.run.out / _STREAM / "bank", embeddings=self.run.models.embeddings)


@contextmanager
def model_in_use(run: Run, workshop: Workshop) -> Iterator[BaseChatModel]:
    """Serve the base with the adapter that is in use, or return the base alone where none is."""
    adapters = run.out / FOLDER
    is_tuned = workshop.in_use(adapters) is not None
    with workshop.serve(adapters, run.config.temperature) if is_tuned else nullcontext(run.models.solver) as chat:
        yield chat
