"""Does memory help? Arms, controls and statistics that say so honestly.

- `config`: the settings of an experiment, saved with the run: enough to repeat it
- `run`: carries out an experiment: learn, then compare the arms on the same problems, and report
- `folder`: the folder of a run: it belongs to one configuration, its models and one set of problems
- `arms`: what each arm shows the solver, and how many attempts it makes
- `learning`: the loop works through problems, and what it learns waits until it is known to be sound
- `banks`: from what was learned, or a bank that is there, to the banks that are shown: frozen, for some arms a part
- `memories`: what an arm shows the solver before a problem, and the controls that tell memory from mere text
- `leaks`: how an answer could reach the solver, in a lesson or in a near copy; what keeps it out, and what checks that
- `solving`: one problem in one arm: from what is shown to a graded row
- `tries`: finished attempts of the arms that make several: what several arms ask of the model, it is asked once
- `guarded`: what a guard makes of the rows of two arms
- `calls`: the models, and the calls behind a row: what they took, and what failed in them
- `results`: the rows, one for each problem, arm and seed, appended as they come and never written twice; the prompts
- `progress`: what a person sees meanwhile: one line for each arm, with what is left and what it has cost so far
- `stats`: intervals and tests for paired outcomes; the unit is the problem, with all its seeds
- `summary`: what an experiment found: the records of `summary.json`
- `training`: what training brought, adapter by adapter and cycle by cycle: more of these records
- `terciles`: where a memory helps: on problems near to what was learned, on long solutions, or everywhere alike
- `summarise`: from rows to a summary
- `probe`: which form of memory helps a model on a file of problems, and what to do about it
- `wording`: figures as sentences, for readers who do not know what a p value is
- `report`: pictures, and the page of an experiment
"""
