"""Does memory help? Arms, controls and statistics that say so honestly.

- `config`: what an experiment is: saved with the run, and enough to repeat it
- `run`: carry out an experiment: learn, then compare the arms on the same problems, and report
- `folder`: the folder of a run: it belongs to one configuration, to its models and to one set of problems
- `arms`: the arms of an experiment: what each shows the solver, and how often it tries
- `learning`: making a bank: the loop works through problems in order, and whatever it learns stays
- `banks`: from the bank that was learned to the banks that are shown: frozen, and for some arms only a part of it
- `memories`: what an arm shows the solver before a problem, and the controls that tell memory from mere text
- `solving`: one problem, one arm: from what is shown to a graded row
- `results`: rows of an experiment: one a problem, arm and seed, appended as they come and never written twice
- `summarise`: from rows to a summary
- `summary`: what an experiment found: the records of `summary.json`
- `stats`: statistics of paired outcomes. The unit is the problem: what its seeds gave belongs together
- `wording`: figures as sentences, for readers who do not know what a p value is
- `leaks`: how an answer could reach the solver through the bank: in an item
- `leak_audit`: the leak audit, recomputed from the rows alone, so that it does not depend on the guard it checks
- `prompts_file`: the prompts that were sent, each once, so that a reader can check what the arms differ in
- `progress`: what a person sees while an experiment runs: one line an arm, with what is left and what it cost so far
- `report`: the report of an experiment: figures, tables and pictures, on one page
"""
