"""Banks and runs whose attempts are harvested."""

import json

from reasoningbank_langgraph import Episode, MemoryBank
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.records import Provenance
from tests.experiments.fake_rows import row
from tests.loop_fakes import indexed_memory

NAMESPACE = ("math", "ann")
TASKS = (
    "A baker sells 48 rolls before noon and half as many later. How many rolls is that?",
    "Nine friends share 63 marbles equally. How many does each friend get?",
    "A pool holds 500 litres and loses 20 litres an hour. What is left after 5 hours?",
    "Tom walks 3 miles on each of 14 days. Which distance does he cover?",
    "Two trains carry 120 and 95 passengers; 15 get off at the border. How many stay on board?",
    "An orchard has 12 rows with 11 trees, and 7 of them were felled. How many still stand?",
)


def attempt(name, task=TASKS[0], text="Later 24 are sold. 48 + 24 = 72, so \\boxed{72}.", right=True, **more):
    """One judged attempt; `judge`, `experience` and what else an episode has."""
    experience = more.pop("experience", name)
    source = Provenance(judge=more.pop("judge", "reference"), attempt_digest=f"digest of {experience}")
    outcome = "success" if right else "failure"
    given = {"id": name, "task": task, "solution": text, "outcome": outcome, "experience_id": experience}
    return Episode(**given, provenance=source, **more)


def bank_of(*attempts, items=(), store=None, namespace=NAMESPACE):
    """A bank that learned these attempts, one experience after another."""
    bank = MemoryBank(store or indexed_memory(), namespace)
    for experience in dict.fromkeys(one.experience_id for one in attempts):
        taught = [item for item in items if item.experience_id == experience]
        bank.add(taught, episodes=[one for one in attempts if one.experience_id == experience])
    return bank


def run_of(folder, *rows):
    """The folder of a run with these rows."""
    folder.mkdir()
    results = Results(folder)
    for one in rows:
        results.append(one)
    return folder


def learned(name="p0", right=True, text=None, **changes):
    """A row of a train problem."""
    reply = text or f"Later {24 if right else 48} more, and 48 before, so \\boxed{{{72 if right else 96}}}."
    return row("learning", name, right, problem=TASKS[0], reply=reply, **changes)


def rows_in(folder, name="train.jsonl"):
    """The rows of a file."""
    path = folder / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def said(rows, field="completion"):
    """The texts of rows, in order."""
    return sorted(one[field][0]["content"] for one in rows)


def left_out(bank, path, **options):
    """What a harvest left out, by reason."""
    return dict(bank.harvest(path, validation=0, **options).left_out)
