"""TODO-MAP experiments/report"""

from reasoningbank_langgraph.experiments.report.write import write_report

__all__ = ["write_report"]
