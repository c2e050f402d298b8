"""How memory's own runs are labelled in a trace; what runs below one of them inherits its tags and metadata.

Everything of memory's own has the tag `reasoningbank`, and nothing of the solver's has it.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

TAG = "reasoningbank"


def labels(step: str, **ids: Any) -> RunnableConfig:
    """Return the tags and the metadata of a run of a step."""
    return {"tags": [TAG, run_name(step)], "metadata": metadata(step=step, **ids)}


def metadata(**values: Any) -> dict[str, Any]:
    """Return values as metadata: `attempt` becomes `reasoningbank_attempt`.

    The others are `reasoningbank_step`, `reasoningbank_rollout`, `reasoningbank_episode`, `reasoningbank_experience`.
    """
    return {f"{TAG}_{name}": value for name, value in values.items()}


def run_name(step: str) -> str:
    """Return the name of a run of a step, which is also one of its tags."""
    return f"{TAG}:{step}"
