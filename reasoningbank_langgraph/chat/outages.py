"""Failures that cost a verdict or lessons and not the run: said aloud, or nobody learns why nothing is learned."""

from __future__ import annotations

import logging

from reasoningbank_langgraph.chat.refusals import way_out
from reasoningbank_langgraph.text import redact_secrets

logger = logging.getLogger(__name__)


class Outages:
    """Tells of the failures of one judge or model: of each kind the first as a warning, later ones at debug level."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def tell(self, who: str, error: BaseException) -> None:
        """Log a failure, without secrets and with the way out where there is one.

        Args:
            who: what failed, for example `"judge, model gpt-4.1-mini"`.
            error: what it raised; its kind is the type and HTTP status of its cause.
        """
        cause = error.__cause__ or error
        kind = f"{who}|{type(cause).__name__}|{getattr(cause, 'status_code', '')}"
        level = logging.DEBUG if kind in self._told else logging.WARNING
        self._told.add(kind)
        said = redact_secrets(f"{type(error).__name__}: {error}"[:600]).text
        logger.log(
            level, "%s failed, the run goes on and learns nothing from it: %s%s", who, said, way_out(cause) or ""
        )
