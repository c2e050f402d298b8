"""Pictures, and the page of an experiment.

- `report_files`: reads the folder of a run and writes its report there
- `page`: the page of an experiment: one file, nothing fetched, readable without scripts
- `differences`: the problems on which two arms differ, to be read one by one
- `plots`: pictures: what the arms reached, what more attempts bring, how the bank grows
- `cycles_plot`: the picture of cycles: accuracy, the bank, changes, and how much the solutions still differ
- `terciles_plot`: the picture of where a memory helps
- `drawing`: how every picture looks: narrow enough for a phone, in light and dark, told apart without colour
- `rendering`: the templates: every text is escaped, unseen characters are named, and long texts are cut
"""

from reasoningbank_langgraph.experiments.report.report_files import write_report

__all__ = ["write_report"]
