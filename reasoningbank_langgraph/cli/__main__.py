"""`python -m reasoningbank_langgraph.cli` is the command `reasoningbank`."""

from reasoningbank_langgraph.cli import app

app(prog_name="reasoningbank")
