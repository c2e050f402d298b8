"""Logs failures that cost a verdict or lessons but not the run, so that users see why nothing was learned."""

from __future__ import annotations

import logging

from reasoningbank_langgraph.chat.refusals import way_out
from reasoningbank_langgraph.text import redact_secrets

logger = logging.getLogger(__name__)


class Outages:
    """Logs the failures of one judge or model: the first of each kind as a warning, later ones at debug level."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def report(self, who: str, error: BaseException) -> None:
        """Log a failure, without secrets and with a way out if there is one.

        Args:
            who: what failed, for example `"judge, model gpt-4.1-mini"`.
            error: what it raised; the type and HTTP status of its cause are its kind.
        """
        cause = error.__cause__ or error
        kind = f"{who}|{type(cause).__name__}|{getattr(cause, 'status_code', '')}"
        level = logging.DEBUG if kind in self._reported else logging.WARNING
        self._reported.add(kind)
        message = redact_secrets(f"{type(error).__name__}: {error}"[:600]).text
        logger.log(
            level, "%s failed, the run goes on and learns nothing for now: %s%s", who, message, way_out(cause) or ""
        )
