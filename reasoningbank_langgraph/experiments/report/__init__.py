"""The report of an experiment: figures, tables and pictures, on one page.

- `report_files`: from the folder of a run to its report
- `page`: the page of an experiment: one file, nothing fetched, readable without scripts
- `differences`: the problems on which two arms differ, to be read one by one: what was asked, shown and answered
- `plots`: pictures of an experiment: what the arms reached, what more attempts bring, how the bank grows
- `drawing`: how every picture looks: narrow enough for a phone, in light and dark, told apart without colour
- `rendering`: the templates: every text is escaped, what cannot be seen in it is named, and long ones are cut
"""

from reasoningbank_langgraph.experiments.report.report_files import write_report

__all__ = ["write_report"]
