"""`reasoningbank bank view`: a page to look into a bank, on loopback."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from reasoningbank_langgraph.cli.bank import (
    DEFAULT_FOLDER,
    BankFolder,
    bank_app,
    chosen_banks,
    open_to_embed,
    require_bank,
)
from reasoningbank_langgraph.cli.terminal import console, named_errors

_ACTOR = "view"


@bank_app.command()
def view(
    namespace: Annotated[str, typer.Option(help="The namespace that is shown, as `bank show` prints it.")],
    bank: BankFolder = DEFAULT_FOLDER,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port of 127.0.0.1 to listen on; 0 for any free port.")
    ] = 0,
) -> None:
    """Look into one namespace of a bank in a browser, until Ctrl-C: browse, search, set in quarantine, forget.

    The address that is printed lets in one browser, once. The packaged embedder must be that of the bank.
    """
    with named_errors(), suppress(KeyboardInterrupt):
        from reasoningbank_langgraph.bank import MemoryBank
        from reasoningbank_langgraph.view import serve_view

        require_bank(bank)
        with open_to_embed(bank, "view.serve_view(MemoryBank(store, ...), port, print)") as store:
            (labels,) = chosen_banks(store, namespace)
            serve_view(MemoryBank(store, labels, actor=_ACTOR), port, console.print)
