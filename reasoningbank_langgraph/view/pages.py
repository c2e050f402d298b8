"""What each address answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast, get_args

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse, Response

from reasoningbank_langgraph.policies import ChangeKind
from reasoningbank_langgraph.records import Episode, ItemStatus, Outcome
from reasoningbank_langgraph.text import render_memories
from reasoningbank_langgraph.view.charts import Chart, chart, pairs, solved
from reasoningbank_langgraph.view.html import FOLDER, address, page
from reasoningbank_langgraph.view.life import life, shown
from reasoningbank_langgraph.view.lineage import HEIGHT, WIDTH, lineage
from reasoningbank_langgraph.view.similarity import MOST, similarity_map
from reasoningbank_langgraph.view.snapshot import Page, Reader, Snapshot, evenly

if TYPE_CHECKING:
    from starlette.requests import Request

    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.records import MemoryItem

_EVENTS = 200
_STATUSES, _OUTCOMES = get_args(ItemStatus), get_args(Outcome)
_MOST, _NAMED = 50, 5


class Pages:
    """The pages of one bank. Starlette calls each in a thread of its own, so none blocks another."""

    def __init__(self, bank: MemoryBank) -> None:
        self._bank, self._reader = bank, Reader(bank)

    def lessons(self, request: Request) -> Response:
        """List lessons, the newest first."""
        asked, found = self._chosen(request)
        part, in_all = Page.of(found, _number(request, "page", 1)), len(self._reader.known().items)
        return self._page("lessons.html", request, found=part, in_all=in_all, **asked)

    def similarity(self, request: Request) -> Response:
        """Show lessons on a map where similar ones are near each other."""
        asked, found = self._chosen(request)
        some = evenly(found, MOST)
        drawing = similarity_map(some, self._bank.vectors([item.id for item in some]))
        return self._page("map.html", request, found=len(found), tried=len(some), drawing=drawing, **asked)

    def search(self, request: Request) -> Response:
        """Search as an agent does: what it would be shown, with the score and the reason of each lesson."""
        task, k = request.query_params.get("task", ""), _number(request, "k", 1)
        max_items, least = _number(request, "max_items", 3), _share(request, "min_score")
        found = self._bank.search(task, k=k, max_items=max_items, min_score=least) if task.strip() else []
        asked = {"task": task, "k": k, "max_items": max_items, "min_score": least}
        return self._page("search.html", request, asked=asked, found=found, block=render_memories(found))

    def entry(self, request: Request) -> Response:
        """Show a lesson or an attempt: what it says, its life and its lineage. Of one that is gone, what is left."""
        name = request.query_params.get("id", "")
        snapshot = self._knowing(name)
        record, events = snapshot.records.get(name), life(snapshot, name)
        latest = events[-_EVENTS:]
        values: dict[str, Any] = {
            "name": name,
            "kind": "gone" if record is None else "attempt" if isinstance(record, Episode) else "lesson",
            "record": record,
            "shown": shown(snapshot, name),
            "credit": chart(pairs([one for one in snapshot.credits if name in one.ids])),
            "events": latest,
            "earlier": len(events) - len(latest),
            "titles": {event.other: _title(snapshot, event.other) for event in latest if event.other},
            "drawing": lineage(snapshot, name),
            "box": (WIDTH, HEIGHT),
        }
        return self._page("entry.html", request, **values)

    def worth(self, request: Request) -> Response:
        """Show what pairs of attempts say of each lesson and of memory as a whole, and when it decided something."""
        snapshot = self._reader.known()
        found = Page.of(snapshot.weighed(), _number(request, "page", 1))
        turns = snapshot.told("credited", "switched")[:_EVENTS]
        titles = {name: _title(snapshot, name) for change in turns for name in change.ids}
        guards = [(guard, _tasks(snapshot, guard.model)) for guard in snapshot.guards]
        credit = chart(pairs(snapshot.credits))
        return self._page("worth.html", request, found=found, guards=guards, turns=turns, titles=titles, credit=credit)

    def ledger(self, request: Request) -> Response:
        """List every change of the bank, the newest first."""
        snapshot, kind = self._reader.known(), request.query_params.get("kind", "")
        found = Page.of(snapshot.told(*filter(None, [kind])), _number(request, "page", 1))
        titles = {name: _title(snapshot, name) for change in found.entries for name in change.ids[:_NAMED]}
        options: dict[str, Any] = {"kinds": sorted(get_args(ChangeKind)), "named": _NAMED}
        return self._page("ledger.html", request, found=found, asked={"kind": kind}, titles=titles, **options)

    def preview(self, request: Request) -> Response:
        """Show what would be forgotten."""
        return self._preview(request, request.query_params.get("id", ""))

    def forget(self, request: Request) -> Response:
        """Forget what the preview showed; if it is no longer the same, show it again."""
        name, form = request.query_params.get("id", ""), request.state.form
        cascade = form.get("cascade") == "yes"
        if form.get("seen") != _digest(self._bank.forget(name, cascade=cascade, dry_run=True)):
            return self._preview(request, name, status=409)
        self._bank.forget(name, cascade=cascade, reason=form.get("reason", ""))
        self._reader.anew()
        return RedirectResponse(address("/entry", id=name), 303)

    def set_status(self, request: Request) -> Response:
        """Take a lesson out of use, or back."""
        name, form = request.query_params.get("id", ""), request.state.form
        status = form.get("status", "")
        if status not in ("active", "quarantined"):
            raise HTTPException(400, "a lesson can be released or set in quarantine here")
        self._bank.set_status([name], cast("ItemStatus", status), reason=form.get("reason", ""))
        self._reader.anew()
        return RedirectResponse(address("/entry", id=name), 303)

    def read_again(self, request: Request) -> Response:
        """Read the bank again."""
        self._reader.anew()
        return RedirectResponse("/", 303)

    def _chosen(self, request: Request) -> tuple[dict[str, Any], list[MemoryItem]]:
        """Return what the form for lessons needs, and the lessons that it asks for, the newest first."""
        asked = {name: request.query_params.get(name, "") for name in ("words", "status", "outcome")}
        found = self._reader.known().selected(**asked)
        return {"asked": asked, "statuses": _STATUSES, "outcomes": _OUTCOMES}, found

    def _preview(self, request: Request, name: str, status: int = 200) -> Response:
        snapshot = self._knowing(name)
        ways = [
            {"cascade": cascade, "ids": ids, "seen": _digest(ids), "titles": [_title(snapshot, one) for one in ids]}
            for cascade in (True, False)
            for ids in [self._bank.forget(name, cascade=cascade, dry_run=True)]
        ]
        if not ways[0]["ids"]:
            raise HTTPException(404, f"the bank has nothing of the id {name!r} to forget")
        title = _title(snapshot, name)
        return self._page("forget.html", request, status, name=name, title=title, ways=ways, most=_MOST)

    def _knowing(self, name: str) -> Snapshot:
        """Return the bank as it was read, or as it is if something new is asked for."""
        snapshot = self._reader.known()
        if not snapshot.knows(name):
            snapshot = self._reader.anew()
        if not snapshot.knows(name):
            raise HTTPException(404, f"nothing in this bank is or was called {name!r}")
        return snapshot

    def _page(self, template: str, request: Request, status: int = 200, **values: Any) -> Response:
        bank = "/".join(self._bank.namespace)
        common = {"bank": bank, "csrf": request.state.csrf, "read_at": self._reader.known().time}
        return page(template, status, **common, path=request.url.path, **values)


def style(_: Request) -> Response:
    """Return the style sheet."""
    return FileResponse(FOLDER / "style.css")


def refused(_: Request, error: Exception) -> Response:
    """Return what is said of an address that does not exist or asks for nonsense, or of a bank that refuses it."""
    if isinstance(error, HTTPException):
        return page("failed.html", error.status_code, problem=error.detail)
    return page("failed.html", 400, problem=str(error))


def _number(request: Request, name: str, default: int) -> int:
    given = request.query_params.get(name, "") or str(default)
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= 1_000_000:
        raise HTTPException(400, f"{name} is a whole number from 1, not {given!r}")
    return int(given)


def _share(request: Request, name: str) -> float | None:
    given = request.query_params.get(name, "")
    try:
        value = float(given) if given else None
    except ValueError:
        value = -1.0
    if value is not None and not 0 <= value <= 1:
        raise HTTPException(400, f"{name} is a number from 0 to 1, not {given!r}")
    return value


def _tasks(snapshot: Snapshot, model: str) -> Chart | None:
    """Draw the part of the tasks that a model solved, with the moments at which memory was switched."""
    turns = (change for change in snapshot.told("switched") if change.ids == (model,))
    marks = [(change.time, str((change.after or {}).get("state", ""))) for change in turns]
    return chart(solved(snapshot.trials[model]), share=True, marks=marks)


def _title(snapshot: Snapshot, name: str) -> str:
    record = snapshot.records.get(name)
    if record is None:
        return name
    return record.task if isinstance(record, Episode) else record.title


def _digest(ids: Iterable[str]) -> str:
    """Return what two equal sets of ids have in common."""
    return hashlib.sha256("\n".join(sorted(ids)).encode("utf-8", "surrogatepass")).hexdigest()
