"""What users bring as a solver: functions and Runnables as they are, agents with what shows them task and lessons.

- `agents`: compiled graphs as solvers: an agent that reads `messages` finds the task and the lessons there
- `asides`: messages of ours in a conversation: what a solver is told and the user's users need not see
"""

from reasoningbank_langgraph.solvers.agents import prepared, retrieving_for

__all__ = ["prepared", "retrieving_for"]
