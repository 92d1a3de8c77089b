"""Claims one reviewer's tickets, runs the handler, and decides them."""

from __future__ import annotations

import logging
import threading
from datetime import datetime
from typing import Any, Callable, Optional, Sequence, Set

from .client import Client
from .errors import DocketError, HttpError, Release, Skip, UnavailableError
from .leases import Context, Kept, Remembered
from .polling import RETRY_SECONDS, SETTINGS_SECONDS, Polling, doubling
from .tickets import Lease, Ticket
from .transport import pause_seconds

_log = logging.getLogger("docket_client")

# as many as one claim hands out
_MOST = 100
# between two claims while there are handlers running: a server doesn't wait for new tickets while it can hand out those
# that are held
_PAUSE_SECONDS = 1.0


def _report(error: BaseException, ticket: Optional[Ticket]) -> None:
    _log.warning("%s%s: %s", f"ticket {ticket.id}: " if ticket else "", type(error).__name__, error)


class ReviewerLoop(Polling[Ticket]):
    """One for each reviewer and queue: what a reviewer holds there is handed to whoever claims in their name."""

    def __init__(
        self,
        client: Client,
        queue: str,
        reviewer: Optional[str],
        handler: Callable[[Ticket, Context], Any],
        *,
        skills: Sequence[str] = (),
        concurrency: int = 1,
        wait_seconds: float = 5,
        backoff: Callable[[int], float] = doubling,
        on_error: Callable[[BaseException, Optional[Ticket]], None] = _report,
    ) -> None:
        """``reviewer``: None for that of the client's key. ``handler``: what it returns is the decision; what it raises
        gives the ticket back. ``concurrency``: threads, each with one ticket; the queue's ``maxHeld`` must allow as
        many. ``wait_seconds``: that a server waits for a ticket to come; a stop may take as long. ``backoff``: attempt
        → seconds until a ticket whose handler failed is handed out again. ``on_error``: told of what went wrong and is
        being dealt with."""
        if not 1 <= concurrency <= _MOST:
            raise ValueError(f"concurrency: 1 to {_MOST}")
        super().__init__(concurrency, wait_seconds, on_error)
        self._tickets = client.tickets
        self._queue = queue
        self._reviewer = reviewer
        self._handler = handler
        self._skills = skills
        self._backoff = backoff
        self._length = Remembered(lambda: float(self._tickets.get_queue(queue)["leaseSeconds"]), SETTINGS_SECONDS)
        self._claiming = threading.Lock()
        self._lock = threading.Lock()
        # by their leases' tokens, because a claim also hands out what another slot is at or has just ended
        self._running: Set[str] = set()
        self._ended: Set[str] = set()

    def _ask(self) -> Optional[Ticket]:
        with self._claiming:
            if self._stopping.is_set():
                return None
            with self._lock:
                self._ended.clear()
                running = len(self._running)
            claimed = self._tickets.claim(
                self._queue,
                reviewer=self._reviewer,
                skills=self._skills,
                count=min(running + 1, _MOST),
                wait_seconds=0 if running else self._wait,
                retry_seconds=RETRY_SECONDS,
            )
            for ticket in claimed.tickets:
                if self._begin(ticket):
                    return ticket
            if running:
                self._stopping.wait(_PAUSE_SECONDS)
            return None

    def _begin(self, ticket: Ticket) -> bool:
        """False: it is no longer the reviewer's, or another slot has it."""
        token = _token(ticket)
        with self._lock:
            if token is None or token in self._running or token in self._ended:
                return False
            self._running.add(token)
            return True

    def _end(self, ticket: Ticket) -> None:
        token = _token(ticket) or ""
        with self._lock:
            self._running.discard(token)
            self._ended.add(token)

    def _take(self, ticket: Ticket) -> None:
        following: Optional[Ticket] = ticket
        while following:
            following = self._take_one(following)

    def _take_one(self, ticket: Ticket) -> Optional[Ticket]:
        """The next ticket, which came with the decision of this one."""
        try:
            if self._stopping.is_set():
                # came while it was being stopped: given back at once, so that others needn't wait for its lease to end
                self._tickets.release(ticket)
                return None
            return self._work(ticket)
        except DocketError as error:
            self._on_error(error, ticket)
            return None
        finally:
            self._end(ticket)

    def _work(self, ticket: Ticket) -> Optional[Ticket]:
        with self._kept(ticket) as context:
            try:
                decision = self._handler(ticket, context)
            except Exception as error:
                failure: Exception = error
            else:
                if context.loss:
                    raise context.loss
                try:
                    following = self._decide(ticket, decision)
                    return following if following and self._begin(following) else None
                except UnavailableError as error:
                    if error.is_passing:
                        raise
                    failure = error
                except (HttpError, TypeError, ValueError) as error:
                    failure = error  # it can't be sent, or is not what the queue takes
        self._give_back(ticket, failure, context)
        return None

    def _decide(self, ticket: Ticket, decision: Any) -> Optional[Ticket]:
        """Sends it until a server has taken it, has said no or fails at it: its answer may be lost when all the rest is done."""
        failures = 0
        while True:
            try:
                goes_on = not self._stopping.is_set()
                return self._tickets.decide(ticket, decision, next=goes_on, skills=self._skills).next
            except UnavailableError as error:
                if self._stopping.is_set() or not error.is_passing:
                    raise
                self._on_error(error, ticket)
            self._stopping.wait(pause_seconds(failures))
            failures += 1

    def _give_back(self, ticket: Ticket, failure: Exception, context: Context) -> None:
        if not isinstance(failure, (Skip, Release)):
            self._on_error(failure, ticket)
        if context.loss:
            raise context.loss
        if isinstance(failure, Skip):
            self._tickets.release(ticket, skip=True)
        else:
            delay = failure.delay if isinstance(failure, Release) else self._backoff(ticket.attempts)
            self._tickets.release(ticket, delay_seconds=delay)

    def _kept(self, ticket: Ticket) -> Kept[Context]:
        # of one that was held before, its lease's times don't say how long it is: it may have been renewed
        lease = None if ticket.resumed else ticket.lease
        return Kept(
            Context(),
            lambda seconds: self._tickets.renew(ticket, timeout=seconds, retry_seconds=RETRY_SECONDS),
            self._length,
            lambda error: self._on_error(error, ticket),
            seconds=None if lease is None else _length(lease),
            at_once=ticket.resumed,
        )


def _token(ticket: Ticket) -> Optional[str]:
    return None if ticket.lease is None else ticket.lease.token


def _length(lease: Lease) -> float:
    times = (lease.expires_at, lease.granted_at)
    expires, granted = (datetime.fromisoformat(at.replace("Z", "+00:00")) for at in times)
    return (expires - granted).total_seconds()
