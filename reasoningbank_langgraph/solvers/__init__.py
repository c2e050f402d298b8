"""What users bring as a solver: functions and Runnables as they are, agents with what shows them task and lessons.

- `agents`: compiled graphs as solvers: an agent that reads `messages` finds the task and the lessons there
- `inserted_messages`: messages that the loop adds to a solver's conversation, marked by their ids
"""

from reasoningbank_langgraph.solvers.agents import heard_by, solver_node

__all__ = ["heard_by", "solver_node"]
