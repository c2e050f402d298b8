"""TODO-MAP extraction"""

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
