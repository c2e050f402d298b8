"""The prompts that were sent, each once, so that a reader can check what the arms differ in."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from reasoningbank_langgraph.files import append_line, whole_lines
from reasoningbank_langgraph.prompts import prompt_hash

PROMPTS = "prompts.jsonl"


class PromptFile:
    """Prompts of a folder by their hash. Safe to use from threads."""

    def __init__(self, out: Path) -> None:
        self.path = out / PROMPTS
        self._lock = threading.Lock()
        self._hashes = {json.loads(line)["hash"] for line in whole_lines(self.path)}

    def add(self, messages: list[tuple[str, str]]) -> str:
        """Write the prompt down unless it is there; returns its hash."""
        name = prompt_hash(*(text for _, text in messages))
        with self._lock:
            if name not in self._hashes:
                self._hashes.add(name)
                append_line(self.path, {"hash": name, "messages": messages}, durable=False)
        return name
