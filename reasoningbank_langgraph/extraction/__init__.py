"""From a judged attempt to a few general lessons (paper section 3.2): ask, accept, leave out details of the task.

- `extractor`: asks a model for lessons from one judged attempt
- `asking`: how a model is asked for lessons: once, and again where nothing usable came
- `acceptance`: which lessons of a reply the bank may hold: general ones, in the model's own words, and no others
- `tips`: a short tip in plain text as a lesson: how weak models are read
- `formulas`: a short program as a lesson, kept if it computes the right answer: how weak models write of numbers
- `wording`: lessons that nobody could use as they are worded
- `literals`: details of one task that no general lesson names: its numbers, its answer, its names, its links
- `identifiers`: names that a system gives to one thing, such as `BOB-4`
- `contrast`: lessons from what sets several attempts at one task apart (paper section 4)
- `anew`: lessons made anew from the episodes of one experience, with ids that are the same in every run
- `results`: what an attempt leaves for the bank: lessons as items, and episodes. All ids are made, none is drawn
- `metadata`: what the caller says of lessons: their tags, scope and difficulty
- `steps`: the calls of tools that led to a solution, as they are kept with it
- `cleaning`: messages of an attempt as they may be kept
- `waiting`: an attempt as it waits in a bank, without secrets, and back: as one that can be judged and distilled
- `quotations`: lessons that the text of an attempt contains: a task or a tool's output must not write lessons
"""

from reasoningbank_langgraph.extraction.acceptance import Extraction, accept
from reasoningbank_langgraph.extraction.anew import Redistiller, judged_again
from reasoningbank_langgraph.extraction.asking import ModelLimits, ask_lessons, items_schema
from reasoningbank_langgraph.extraction.extractor import PROMPT_HASH, Judged, LessonExtractor
from reasoningbank_langgraph.extraction.results import IDS, Origin, episode_id, make_episodes, make_items
from reasoningbank_langgraph.extraction.waiting import Waiting, make_pending

__all__ = [
    "IDS",
    "PROMPT_HASH",
    "Extraction",
    "Judged",
    "LessonExtractor",
    "ModelLimits",
    "Origin",
    "Redistiller",
    "Waiting",
    "accept",
    "ask_lessons",
    "episode_id",
    "items_schema",
    "judged_again",
    "make_episodes",
    "make_items",
    "make_pending",
]
