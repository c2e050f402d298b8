"""Does memory help? Arms, controls and statistics that say so honestly.

config.py        what an experiment is
folder.py        the folder of a run, and its problems
arms.py          the arms
memories.py      what each shows, and the controls
leaks.py         how an answer could reach the solver through the bank
leak_audit.py    the same, found again from the rows alone
learning.py      making a bank
banks.py         the banks that are shown
asking.py        one problem, one arm: a graded row
run.py           all of it, in order
results.py       the rows
prompts_file.py  the prompts
progress.py      what a person sees meanwhile
stats.py         intervals and tests
summary.py       what a run comes to; summarise.py makes it from the rows
wording.py       figures as sentences
plots.py         pictures; drawing.py is how they look
report.py        the page, from report_*.py and html_parts.py
"""
