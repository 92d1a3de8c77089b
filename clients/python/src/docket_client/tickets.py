"""Tickets: who adds them, who ends them from outside, and who reviews them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import urlencode

from .items import BatchResult, Event, Items, held, part
from .shapes import sent, shaped


@dataclass(frozen=True)
class Lease:
    """Until ``expires_at`` the ticket is the reviewer's. ``token`` and the ``draft`` of a decision are for the holder
    only, and None for all others."""

    reviewer: str
    granted_at: str
    expires_at: str
    token: Optional[str]
    draft: Any = None


@dataclass(frozen=True)
class Invalidation:
    reason: str
    by: str
    at: str


@dataclass(frozen=True)
class Suggestion:
    """What a model would decide, and from 0 to 1 how sure it is."""

    model: str
    decision: Any
    confidence: float
    reasons: Any


@dataclass(frozen=True)
class Ticket:
    """``state``: delayed, waiting, held, or finally decided, invalidated, expired or dead. ``attempts``: how many
    leases were granted. ``resumed``: it was handed out before, and is held by the same reviewer still. ``automation``: none,
    partial (who decided was shown a suggestion) or full (a model decided). ``suggestion``: while it is open, where its
    queue shows them."""

    id: str
    queue: str
    state: str
    priority: int
    body: Any
    requires: List[str]
    exclude: List[str]
    attempts: int
    version: int
    created_at: str
    available_at: str
    deadline_at: Optional[str]
    lease: Optional[Lease]
    decision: Any
    decided_by: Optional[str]
    decided_at: Optional[str]
    reason: Optional[str]
    invalidation: Optional[Invalidation]
    resumed: bool = False
    subject: Optional[str] = None
    of: Optional[Dict[str, Any]] = None
    looks: Sequence[Mapping[str, Any]] = ()
    standing: Optional[Dict[str, Any]] = None
    automation: str = "none"
    suggestion: Optional[Suggestion] = None


@dataclass(frozen=True)
class ClaimedTickets:
    """``reasons``: counts of what was not for the reviewer, where there is no ticket; ``retry_after_seconds``: when it
    may be worth asking again."""

    tickets: List[Ticket]
    reasons: Optional[Dict[str, int]]
    retry_after_seconds: float


@dataclass(frozen=True)
class Decided:
    """``next``: the reviewer's next ticket, if it was asked for and there is one. ``synced``: how many others of its
    subject were decided with it."""

    ticket: Ticket
    next: Optional[Ticket]
    synced: int = 0


@dataclass(frozen=True)
class Draft:
    """What a reviewer has filled in of a decision, and when."""

    draft: Any
    at: str


class Tickets(Items):
    """Fields of queues and tickets that are sent are named as in the API."""

    def put_queue(self, queue: str, settings: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces all settings of a queue; they count at once, also for what waits."""
        return self._call("PUT", f"/v1/queues/{part(queue)}", settings)

    def get_queue(self, queue: str) -> Dict[str, Any]:
        return self._call("GET", f"/v1/queues/{part(queue)}", of=queue)

    def add(self, queue: str, ticket: Mapping[str, Any]) -> Ticket:
        """Adds a ticket, or finds the one with the same id and content.

        Raises HttpError with code id_conflict when the id stands for another ticket."""
        return _ticket(self._add(f"/v1/queues/{part(queue)}/tickets", ticket))

    def add_many(self, queue: str, tickets: Iterable[Mapping[str, Any]]) -> List[BatchResult]:
        """Any number of tickets; each succeeds or fails by itself, in the order given."""
        return self._add_many(f"/v1/queues/{part(queue)}/tickets/batch", "tickets", tickets)

    def get(self, id: str) -> Ticket:
        """A ticket, in whatever state it is."""
        return _ticket(self._call("GET", _path(id), of=id))

    def events(self, id: str) -> Iterator[Event]:
        """All that has happened to a ticket, oldest first."""
        return (shaped(Event, event) for event in self._transport.items(_path(id, "events")))

    def list(
        self,
        *,
        queue: Optional[str] = None,
        state: Optional[str] = None,
        reviewer: Optional[str] = None,
        subject: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        order: Optional[str] = None,
    ) -> Iterator[Ticket]:
        """Tickets, newest first, or ``order="oldest"``. ``reviewer``: who holds them or has decided them."""
        query = sent(
            queue=queue,
            state=state,
            reviewer=reviewer,
            subject=subject,
            created_after=created_after,
            created_before=created_before,
            order=order,
        )
        return (_ticket(ticket) for ticket in self._transport.items("/v1/tickets", query))

    def resolve(self, id: str, *, decision: Any, reason: str) -> Ticket:
        """Decided by another system or an operator, in whatever open state it is; its holder is notified.

        Raises NotOpenError when it was final already, unless by the same call."""
        return self._change(id, "resolve", {"decision": decision, "reason": reason})

    def invalidate(self, id: str, *, reason: str) -> Ticket:
        """No one needs to decide it any more; its holder is notified. Raises as ``resolve``."""
        return self._change(id, "invalidate", {"reason": reason})

    def look(
        self,
        id: str,
        *,
        cause: str,
        by: Optional[str] = None,
        reason: Optional[str] = None,
        priority: Optional[int] = None,
        decision: Any = None,
    ) -> Ticket:
        """Asks for a second look at a decision (``appeal``, ``check`` or ``overturn``), which nobody who decided before
        is handed. An ``overturn`` is decided at once, with ``decision``. The same call again has the same look."""
        how = {**sent(cause=cause, by=by, reason=reason, priority=priority)}
        return self._change(id, "looks", {**how, "decision": decision} if cause == "overturn" else how)

    def quality(self, queue: str, *, since: Optional[str] = None, until: Optional[str] = None) -> List[Dict[str, Any]]:
        """How well a queue's tickets were decided in a time, by each person and model."""
        query = urlencode({name: at for name, at in (("from", since), ("to", until)) if at is not None})
        answer: Dict[str, Any] = self._call("GET", f"/v1/queues/{part(queue)}/quality?{query}", of=queue)
        return list(answer["items"])

    def resolve_all(
        self, filter: Mapping[str, str], *, decision: Any, reason: str, dry_run: bool = False
    ) -> Dict[str, int]:
        """Decides all open tickets of a ``subject``, where given only those of a ``queue`` or in a ``state``; how many
        were ``resolved`` and ``skipped``. ``dry_run``: only counts them."""
        how = sent(filter=filter, reason=reason, dry_run=dry_run)
        return self._call("POST", "/v1/tickets/resolve", {**how, "decision": decision})

    def invalidate_all(self, filter: Mapping[str, str], *, reason: str, dry_run: bool = False) -> Dict[str, int]:
        """The same: no one needs to decide them any more; ``invalidated`` and ``skipped``."""
        return self._call("POST", "/v1/tickets/invalidate", sent(filter=filter, reason=reason, dry_run=dry_run))

    def change(self, id: str, changes: Mapping[str, Any]) -> Ticket:
        """Changes ``priority``, ``body``, ``subject``, ``requires``, ``exclude`` or ``deadlineAt`` of an open ticket,
        also while it is held; the very next claim sees it. Raises NotOpenError."""
        return _ticket(self._call("PATCH", _path(id), changes, of=id))

    def reprioritize(self, id: str, priority: int) -> Ticket:
        return self.change(id, {"priority": priority})

    def transfer(self, ticket: Union[Ticket, str], *, queue: str, reason: Optional[str] = None) -> Ticket:
        """Moves an open ticket to another queue; its lease ends. By an id alone operators move any ticket, whoever
        holds it."""
        id, token = _named(ticket)
        return self._change(id, "transfer", {"queue": queue, **token, **sent(reason=reason)})

    def claim(
        self,
        queue: Union[str, Sequence[str]],
        *,
        reviewer: Optional[str] = None,
        skills: Sequence[str] = (),
        count: int = 1,
        wait_seconds: float = 0,
        retry_seconds: Optional[float] = None,
    ) -> ClaimedTickets:
        """Up to ``count`` tickets: those that the reviewer holds, then the next ones; of several queues in order of
        preference. ``ReviewerLoop`` does this for one queue, and all that follows. ``reviewer`` may be left out with a
        reviewer's key."""
        asked = sent(reviewer=reviewer, skills=[*skills], count=count, wait_seconds=wait_seconds)
        path = f"/v1/queues/{part(queue)}/claim" if isinstance(queue, str) else "/v1/claim"
        asked = asked if isinstance(queue, str) else {**asked, "queues": [*queue]}
        answer = self._call("POST", path, asked, wait=wait_seconds, retry_seconds=retry_seconds)
        tickets = [_ticket(ticket) for ticket in answer["tickets"]]
        return ClaimedTickets(tickets, answer["reasons"], answer["retryAfterSeconds"])

    def renew(self, ticket: Ticket, *, timeout: Optional[float] = None, retry_seconds: Optional[float] = None) -> str:
        """A full lease again; when that ends. Raises LeaseLostError or NotOpenError."""
        id, token = held(ticket)
        answer = self._call("POST", _path(id, "renew"), token, of=id, timeout=timeout, retry_seconds=retry_seconds)
        return str(answer["expiresAt"])

    def decide(
        self,
        ticket: Ticket,
        decision: Any,
        *,
        next: bool = False,
        skills: Sequence[str] = (),
        queues: Sequence[str] = (),
        version: Optional[int] = None,
    ) -> Decided:
        """Decides a ticket that was claimed. ``next``: to be handed the reviewer's next one by the same call, by these
        ``skills``, and from these ``queues`` instead of the ticket's. ``version``: of the ticket as it was seen. Once
        more with the same decision is no error.

        Raises LeaseLostError, NotOpenError, or HttpError when the decision doesn't fit the queue's form, and with code
        changed when the ticket's body or requirements have changed after that version."""
        id, token = held(ticket)
        how = sent(next=next, skills=[*skills], queues=[*queues], version=version)
        body = {**token, **how, "decision": decision}
        answer = self._call("POST", _path(id, "decide"), body, of=id)
        following = answer["next"]
        return Decided(_ticket(answer["ticket"]), _ticket(following) if following else None, answer["synced"])

    def put_draft(self, ticket: Ticket, draft: Any) -> None:
        """Keeps what the holder has filled in of a decision; it comes again with the lease. Raises as ``renew``."""
        id, token = held(ticket)
        self._call("PUT", _path(id, "draft"), {**token, "draft": draft}, of=id)

    def get_draft(self, id: str, *, reviewer: Optional[str] = None) -> Optional[Draft]:
        """A reviewer's own draft, until a day after their lease. ``reviewer`` may be left out with a reviewer's key."""
        answer = self._call("GET", f"{_path(id, 'draft')}?{urlencode(sent(reviewer=reviewer))}", of=id)
        return shaped(Draft, answer) if answer else None

    def unsuggested(
        self, queue: str, *, model: Optional[str] = None, wait_seconds: float = 0, limit: int = 50
    ) -> List[Ticket]:
        """A model's work list: tickets that have no suggestion of it, in the order of the queue. ``model`` may be left
        out with a model's key."""
        query = urlencode(sent(model=model, wait_seconds=wait_seconds, limit=limit))
        answer = self._call("GET", f"/v1/queues/{part(queue)}/unsuggested?{query}", of=queue, wait=wait_seconds)
        return [_ticket(ticket) for ticket in answer["items"]]

    def suggest(
        self,
        id: str,
        *,
        decision: Any,
        confidence: float,
        model: Optional[str] = None,
        reasons: Any = None,
        version: Optional[int] = None,
    ) -> Suggestion:
        """What a model would decide, once for each ticket; the same again is no error. ``version``: of the ticket as it
        was seen.

        Raises NotOpenError, or HttpError when it doesn't fit the queue's form, and with code id_conflict when the model
        has suggested something else."""
        said = {"decision": decision, **sent(confidence=confidence, model=model, reasons=reasons, version=version)}
        return shaped(Suggestion, self._call("POST", _path(id, "suggestions"), said, of=id))

    def release(
        self,
        ticket: Union[Ticket, str],
        *,
        delay_seconds: float = 0,
        reason: Optional[str] = None,
        skip: bool = False,
    ) -> Ticket:
        """Gives a ticket back, to be handed out again after so many seconds. ``skip``: never to this reviewer. By an
        id alone operators take it away from its holder."""
        id, token = _named(ticket)
        return self._change(id, "release", {**token, **sent(delay_seconds=delay_seconds, reason=reason, skip=skip)})

    def _change(self, id: str, what: str, body: Mapping[str, Any]) -> Ticket:
        return _ticket(self._call("POST", _path(id, what), body, of=id))


def _path(id: str, what: str = "") -> str:
    return f"/v1/tickets/{part(id)}{what and '/' + what}"


def _named(ticket: Union[Ticket, str]) -> Tuple[str, Dict[str, str]]:
    return (ticket, {}) if isinstance(ticket, str) else held(ticket)


def _ticket(answer: Mapping[str, Any]) -> Ticket:
    lease, invalidation, suggestion = answer["lease"], answer["invalidation"], answer.get("suggestion")
    return shaped(
        Ticket,
        answer,
        lease=lease and shaped(Lease, lease),
        invalidation=invalidation and shaped(Invalidation, invalidation),
        suggestion=suggestion and shaped(Suggestion, suggestion),
    )
