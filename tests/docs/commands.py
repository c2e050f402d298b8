"""The commands of `reasoningbank` as Markdown: what their help says."""

import inspect
from pathlib import Path

import typer

from reasoningbank_langgraph.cli import app


def cli():
    """Every command with its options."""
    return "# Command line\n\n" + "\n".join(_commands(typer.main.get_command(app), "reasoningbank"))


def _commands(command, name):
    yield f"## {name}\n\n{inspect.cleandoc(command.help)}\n"
    options = [option for option in command.params if "--install-completion" not in option.opts]
    options = [option for option in options if "--show-completion" not in option.opts]
    if options and not hasattr(command, "commands"):
        yield "| option | what it does | default |\n|---|---|---|"
        yield "\n".join(map(_option, options)) + "\n"
    for word, under in getattr(command, "commands", {}).items():
        yield from _commands(under, f"{name} {word}")


def _option(option):
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    named = option.param_type_name == "option"
    default = option.default if isinstance(option.default, (bool, int, float, str, Path)) else False
    shown = option.opts[0] if default is True else getattr(default, "value", default)
    needed = "required" if option.required else "" if default is False else f"`{shown}`"
    words = " ".join((option.help or "").split())
    return f"| {names if named else option.name.upper()} | {words} | {needed} |"
