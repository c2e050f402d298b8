"""What a harvest says of itself: the rules it was made by, what was left out, and where each row comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from pydantic import Field

from reasoningbank_langgraph.errors import HarvestError, InvalidRecordError
from reasoningbank_langgraph.records import Record, UtcDatetime, utc_now
from reasoningbank_langgraph.train.harvest.held_out import EvaluationFile
from reasoningbank_langgraph.train.harvest.solutions import Source

CARD, PAGE = "card.json", "card.md"
RULES = """\
- Verified: the verdict on an attempt came from one of these judges: {judges}.
- Texts are as they were, or left out: without secrets, links, special tokens, turns, fences or talk of notes.
- Of a task at most {samples} solutions are kept, the shortest first. Equal texts count as one, and so do texts with
  equal numbers in equal order.
- Left out as `judged both ways`: a text that was called right once and wrong once.
- A pair is a right and a wrong solution from one group of attempts at a task.
- A row weighs 2 if its task was missed first: no attempt of the first experience solved it, and a later one did. Any
  other weighs 1. A trainer shows a row as often in an epoch as it weighs.
- Tasks for validation are in no other file, and neither are near copies of them.
- Left out as `same task`: a problem of an evaluation file. `near copy`: nearly one, numbers and names set aside.
  `answer`: a solution that states the answer of one, for a task with the same numbers or with all of three or more,
  or an answer that is telling by itself."""


class DataFile(Record):
    """One file of a harvest."""

    rows: int
    tasks: int
    sha256: str


class Origin(Record):
    """Where one row comes from."""

    file: str
    line: int
    """From 1."""
    id: str
    """Digest of what the row says, also in the row itself."""
    task: str
    """Key of the task: equal for texts that differ in case or spacing only."""
    weight: int
    sources: tuple[Source, ...]
    """Of the solution; of a pair, first the right one."""


class Harvest(Record):
    """The card of a harvest."""

    format: int = 1
    created_at: UtcDatetime = Field(default_factory=utc_now)
    namespace: tuple[str, ...] = ()
    """Of the bank; none where all rows come from experiments."""
    runs: tuple[str, ...] = ()
    """Folders of the experiments."""
    judges: tuple[str, ...]
    outcome: Literal["success", "failure"] = "success"
    """Of the solutions that rows are made of."""
    samples: int
    prompt_hash: str
    """Names the wording that every task is asked in."""
    not_in: tuple[EvaluationFile, ...] = ()
    solutions: int
    """That were looked at, right and wrong ones."""
    left_out: Mapping[str, int] = {}
    """Solutions by the reason why no row was made of them."""
    files: Mapping[str, DataFile] = {}
    rows: tuple[Origin, ...] = ()

    @property
    def digest(self) -> str:
        """Names the data: equal for equal files."""
        told = "".join(f"{name} {file.sha256}\n" for name, file in self.files.items())
        return hashlib.sha256(told.encode()).hexdigest()

    def page(self, prompt: Sequence[Mapping[str, str]]) -> str:
        """Return the card as Markdown; `prompt` is what a model is sent, with `{task}` in the place of the task."""
        return "\n".join(self._lines(prompt)) + "\n"

    def _lines(self, prompt: Sequence[Mapping[str, str]]) -> Iterator[str]:
        source = [*([f"the bank `{_labels(self.namespace)}`"] if self.namespace else []), *map(_code, self.runs)]
        yield f"# Training data from {', '.join(source)}\n"
        yield f"Made {self.created_at:%Y-%m-%d %H:%M} UTC from {self.solutions} solutions. Digest `{self.digest}`.\n"
        if self.outcome == "failure":
            yield "The solutions are wrong ones, for an adapter that is the control of another.\n"
        yield "| file | rows | tasks |\n|---|---|---|"
        yield from (f"| `{name}` | {file.rows} | {file.tasks} |" for name, file in self.files.items())
        yield "\n## Left out\n\n| why | solutions |\n|---|---|"
        yield from (f"| {reason} | {count} |" for reason, count in self.left_out.items())
        yield "\n## Kept clear of\n\n| file | problems | SHA-256 |\n|---|---|---|"
        yield from (f"| {_code(file.name)} | {file.problems} | `{file.sha256}` |" for file in self.not_in)
        yield f"\n## Rules\n\n{RULES.format(judges=', '.join(map(_code, self.judges)), samples=self.samples)}"
        yield f"\n## Prompt `{self.prompt_hash}`\n"
        yield from (f"    {message['role']}: {line}" for message in prompt for line in message["content"].split("\n"))
        yield "\n## Where each row comes from\n\n| file | line | row | weight | source |\n|---|---|---|---|---|"
        for row in self.rows:
            sources = "; ".join(map(_told, row.sources))
            yield f"| `{row.file}` | {row.line} | `{row.id}` | {row.weight} | {sources} |"


def read_card(folder: Path) -> Harvest:
    """Return the card of a harvest. Raises `HarvestError` if the folder holds none."""
    try:
        return Harvest.model_validate_json((folder / CARD).read_bytes())
    except (OSError, InvalidRecordError, ValueError) as error:
        raise HarvestError(f"{folder} holds no harvest: its {CARD} cannot be read: {error!s:.200}") from error


def _told(source: Source) -> str:
    place = _labels(source.namespace) if source.namespace else source.run
    return f"{source.outcome}: {source.kind} {_code(source.id)} of {_code(place)}, judged by {_code(source.judge)}"


def _labels(namespace: Sequence[str]) -> str:
    return "/".join(quote(label, safe=_PLAIN, errors="replace") for label in namespace)


def _code(name: str) -> str:
    return f"`{quote(name, safe=_PLAIN + '/ ', errors='replace')}`"


_PLAIN = "_-@+,:.~"
