"""`reasoningbank experiment`: does memory help, and does training on what was solved?

- `commands`: one command for each protocol, `repeat` and `report`
- `options`: their options: each is a setting of the run
"""

from reasoningbank_langgraph.cli.experiment.commands import carry_out, experiment_app
from reasoningbank_langgraph.cli.experiment.options import LeaveOut

__all__ = ["LeaveOut", "carry_out", "experiment_app"]
