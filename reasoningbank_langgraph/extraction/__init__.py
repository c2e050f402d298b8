"""From a judged attempt to a few general lessons (paper section 3.2): ask, accept, leave out what is no lesson.

- `extractor`: from a judged attempt to a few general lessons (paper section 3.2)
- `literals`: details of one task that a general lesson has no business naming: its numbers, its answer, its names
- `quotations`: lessons that an attempt's own text holds: who wrote the task
"""

from reasoningbank_langgraph.extraction.extractor import (
    PROMPTS,
    Asking,
    Distilled,
    Judged,
    LessonExtractor,
    accept,
    ask_lessons,
    items_schema,
)

__all__ = ["PROMPTS", "Asking", "Distilled", "Judged", "LessonExtractor", "accept", "ask_lessons", "items_schema"]
