"""The command `reasoningbank`."""

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
