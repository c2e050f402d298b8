"""The commands of `reasoningbank` as Markdown: what their help says."""

import inspect
from pathlib import Path
from typing import get_type_hints

import typer

from reasoningbank_langgraph.cli import app


def cli():
    """Every command with its options."""
    return "# Command line\n\n" + "\n".join(_commands(typer.main.get_command(app), "reasoningbank"))


def _commands(command, name):
    yield f"## {name}\n\n{inspect.cleandoc(command.help)}\n"
    if not hasattr(command, "commands"):
        said = get_type_hints(command.callback, include_extras=True)
        yield "| option | what it does | default |\n|---|---|---|"
        yield "".join(_option(option, said[option.name].__metadata__[0].help) for option in command.params)
    for word, under in getattr(command, "commands", {}).items():
        yield from _commands(under, f"{name} {word}")


def _option(option, said):
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    named = option.param_type_name == "option"
    default = option.default if isinstance(option.default, (bool, int, float, str, Path)) else False
    shown = option.opts[0] if default is True else getattr(default, "value", default)
    needed = "required" if option.required else "" if default is False or shown == "" else f"`{shown}`"
    return f"| {names if named else option.name.upper()} | {' '.join((said or '').split())} | {needed} |\n"
