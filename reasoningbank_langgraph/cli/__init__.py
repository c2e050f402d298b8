"""The command `reasoningbank`.

- `solve`: `reasoningbank solve`: the math solver with a bank on disk, problem by problem
- `demo`: `reasoningbank demo`: a bank grows on twenty small problems, then new ones are solved with it and without
- `demo_problems`: kinds of problems that a model of 135 million parameters solves now and then
- `demo_screen`: what `reasoningbank demo` shows: a line a problem under a line that moves, and what came of it
- `bank`: `reasoningbank bank`: look at a bank, check it, repair it, clean it, move it to another embedder, serve it
- `lessons`: `reasoningbank bank export`, `import`, `forget`: the lessons of one namespace
- `model`: `reasoningbank model`: see and fetch local models
- `audit`: `reasoningbank judge-audit`: a judge against known answers
- `experiment`: `reasoningbank experiment`: does memory help this model on these problems?
- `report`: what `reasoningbank solve` shows: a paragraph a problem, a table at the end
- `labels`: labels and ids as the terminal shows them and as commands read them: one form, safe to copy, for one name
- `screen`: the terminal: the one way to it, which obeys no text, and how commands end when something is wrong
- `__main__`: `python -m reasoningbank_langgraph.cli` is the command `reasoningbank`
"""

import typer

from reasoningbank_langgraph.cli import lessons as _lessons  # noqa: F401 - adds its commands to `bank`
from reasoningbank_langgraph.cli.audit import judge_audit
from reasoningbank_langgraph.cli.bank import bank_app
from reasoningbank_langgraph.cli.demo import demo
from reasoningbank_langgraph.cli.experiment import experiment_app
from reasoningbank_langgraph.cli.model import model_app
from reasoningbank_langgraph.cli.screen import Commands, prepare
from reasoningbank_langgraph.cli.solve import solve

app = typer.Typer(
    cls=Commands,
    callback=prepare,
    help="Agents that learn from what worked and what failed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(solve)
app.command()(judge_audit)
app.add_typer(bank_app, name="bank")
app.add_typer(experiment_app, name="experiment")
app.add_typer(model_app, name="model")
