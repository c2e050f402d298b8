"""The page of the reference on named types: the values they allow or the things they accept."""

import inspect
import re
from importlib import import_module
from typing import get_args

from tests.docs.source import alias

VALUES = {
    "records.verdicts.VerdictStatus": '`verdict["status"]`, `Verdict.status`',
    "records.verdicts.IndeterminateReason": '`verdict["reason"]`, `Verdict.reason`',
    "records.verdicts.FailureKind": '`verdict["failure"]`, `extraction["failure"]`, `rollout["error"]["kind"]`',
    "events.ExtractionReason": '`extraction["reason"]`',
    "events.DropReason": 'the keys of `extraction["dropped"]`',
    "policies.guard.GuardState": "`GuardStatus.state`",
    "policies.guard.Withheld": '`withheld` of the event, `trial["withheld"]`',
    "events.SelectedBy": '`selection["by"]`',
    "records.lessons.Outcome": "`MemoryItem.outcome`",
    "records.lessons.ItemStatus": "`MemoryItem.status`, `MemoryBank.set_status`",
    "learn.coverage.SkipReason": "`Skip.reason`, the keys of `Coverage.reasons`",
    "records.pending.WaitsFor": "`PendingAttempt.waits_for`",
    "matts.scaling.Mode": "`Scaling.mode`",
    "matts.scaling.MemoryUse": "`Scaling.memory`",
    "judges.ensemble.Rule": "`EnsembleJudge(rule=...)`",
    "policies.consolidation.Copies": "`policy=...` of the graphs, the nodes and `MemoryBank.add`, `Policy.copies`",
    "policies.consolidation.Effect": "`effects` of the event, `Treated.effect`",
    "bank.item_values.Match": "`match=...` of a bank and of the nodes",
    "bank.exchange.foreign.MemorySource": "`source` of `MemoryBank.import_from`",
    "bank.examples.Show": "`show=...` of the nodes and of the graphs",
    "agents.placing.Placement": "`ReasoningBankMiddleware(placement=...)`",
    "math_answers.found.Missing": "`ExtractedAnswer.reason`",
}
"""Types whose values are words, and where these are found."""
ACCEPTED = (
    "chat.models.ModelLike",
    "judges.base.JudgeLike",
    "judges.base.Decision",
    "state.schema.Selector",
    "policies.consolidation.PolicyLike",
    "extraction.metadata.Metadata",
    "bank.metadata.Where",
    "nodes._defer.Learn",
    "matts.scaling.Select",
    "matts.scaling.Choose",
    "store.indexing.IndexSetting",
    "store.settings.Progress",
    "text.memories.Memory",
    "agents.tool_results.ToolCheck",
    "agents.state_verdicts.StateCheck",
    "agents.checks.RiskyCall",
    "train.harvest.making.Prompt",
    "testing.fakes.Script",
    "testing.fakes.Reply",
)
"""Types that stand for several others."""
MEANING = re.compile(r"`([\w-]+)`: ([^;.]+)")


def types():
    """Every named type of the public signatures."""
    parts = ["# Types and values\n\n## Values\n"]
    parts += [_values(place, where) for place, where in VALUES.items()]
    parts += ["## What arguments accept\n", *map(_accepted, ACCEPTED)]
    parts.append("`StoreSettings` are listed under [Configuration](configuration.md#settings-of-a-store).\n")
    return "\n".join(parts)


def _values(place, where):
    name, said = place.rpartition(".")[2], _source(place)[1]
    rows = "\n".join(f"| `{value}` | {meaning} |" for value, meaning in meanings(place).items())
    return f"### {name}\n\n{said.partition('. `')[0]}: {where}.\n\n| value | meaning |\n|---|---|\n{rows}\n"


def meanings(place):
    """Return what the code says of each value of a type, in the order in which the type names them."""
    found = dict(MEANING.findall(_source(place)[1]))
    return {value: found.pop(value) for value in values_of(place)} | found


def values_of(place):
    """Return the values a type allows."""
    module, _, name = place.rpartition(".")
    return get_args(getattr(import_module(f"reasoningbank_langgraph.{module}"), name))


def _accepted(place):
    definition, said = _source(place)
    return f"### {place.rpartition('.')[2]}\n\n```py\n{definition}\n```\n\n{said}\n"


def _source(place):
    module, _, name = place.rpartition(".")
    return alias(inspect.getsource(import_module(f"reasoningbank_langgraph.{module}")), name)
