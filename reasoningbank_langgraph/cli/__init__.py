"""The command `reasoningbank`.

- `solve`: `reasoningbank solve`: the math solver with a bank on disk, problem by problem
- `solve_report`: what `solve` prints: a paragraph for each problem and a table at the end
- `demo`: `reasoningbank demo`: a bank grows on twenty small problems and is tried on new ones
- `demo_problems`: problems that a model of 135 million parameters solves now and then
- `demo_report`: what `demo` prints: a line for each problem, a progress bar and a summary
- `bank`: `reasoningbank bank`: show a bank, check it, repair it, clean it, re-embed it and serve it
- `lessons`: `reasoningbank bank export`, `import`, `quarantine`, `merge` and `forget`: the lessons of one namespace
- `listing`: `reasoningbank bank episodes`, `guard` and `stats`: what a bank keeps, did and used
- `upkeep`: `bank redistil`, `prune`, `log`, `why`, `graph`, `contradictions`, `rekey`; `import-from`
- `learn`: `reasoningbank learn`: lessons from the threads that a checkpointer holds
- `pending`: `reasoningbank pending`, `resolve` and `resolve-overdue`: attempts that wait for a verdict or for a model
- `serving`: `reasoningbank mcp` and `bank view`: a bank for agents that speak MCP, and as a page
- `model`: `reasoningbank model`: list local models and download them; and the model of any other command, loaded
- `audit`: `reasoningbank judge-audit`: how often a judge is right on attempts with known answers
- `experiment`: `reasoningbank experiment`: does memory help this model on these problems?
- `probe`: `reasoningbank probe`: which form of memory helps this model on these problems
- `train`: `reasoningbank harvest`, `tune` and `adapter`: from a bank to weights
- `identifiers`: namespaces, ids and filters as they stand in a command: safe to print, and to be pasted back
- `terminal`: the two consoles, which show control characters instead of obeying them, and bars and errors on them
- `__main__`: `python -m reasoningbank_langgraph.cli` is the command `reasoningbank`
"""

import typer

from reasoningbank_langgraph.cli import lessons as _lessons  # noqa: F401 - adds its commands to `bank`
from reasoningbank_langgraph.cli import listing as _listing  # noqa: F401 - adds its commands to `bank`
from reasoningbank_langgraph.cli.audit import judge_audit
from reasoningbank_langgraph.cli.bank import bank_app
from reasoningbank_langgraph.cli.demo import demo
from reasoningbank_langgraph.cli.experiment import experiment_app
from reasoningbank_langgraph.cli.learn import learn
from reasoningbank_langgraph.cli.model import model_app
from reasoningbank_langgraph.cli.pending import pending, resolve, resolve_overdue
from reasoningbank_langgraph.cli.probe import probe
from reasoningbank_langgraph.cli.serving import mcp
from reasoningbank_langgraph.cli.solve import solve
from reasoningbank_langgraph.cli.terminal import Commands, prepare
from reasoningbank_langgraph.cli.train.adapter import adapter_app
from reasoningbank_langgraph.cli.train.harvest import harvest
from reasoningbank_langgraph.cli.train.tune import tune
from reasoningbank_langgraph.cli.upkeep import contradictions as _contradictions  # noqa: F401 - adds its command to `bank`
from reasoningbank_langgraph.cli.upkeep import history as _history  # noqa: F401 - adds its commands to `bank`
from reasoningbank_langgraph.cli.upkeep import prune as _prune  # noqa: F401 - adds its command to `bank`
from reasoningbank_langgraph.cli.upkeep import redistil as _redistil  # noqa: F401 - adds its command to `bank`
from reasoningbank_langgraph.cli.upkeep import rekey as _rekey  # noqa: F401 - adds its command to `bank`
from reasoningbank_langgraph.cli.upkeep.migrate import import_from

app = typer.Typer(
    cls=Commands,
    callback=prepare,
    help="Agents that learn from what worked and what failed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(solve)
app.command()(learn)
app.command()(import_from)
app.command()(mcp)
app.command()(judge_audit)
app.command()(tune)
app.command()(probe)
app.command()(harvest)
app.command()(pending)
app.command()(resolve)
app.command()(resolve_overdue)
app.add_typer(bank_app, name="bank")
app.add_typer(experiment_app, name="experiment")
app.add_typer(model_app, name="model")
app.add_typer(adapter_app, name="adapter")
