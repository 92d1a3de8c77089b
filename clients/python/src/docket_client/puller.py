"""Pulls one user's tasks, runs the handler, and completes them."""

from __future__ import annotations

import logging
from typing import Any, Callable, Optional, Sequence

from .client import Client
from .errors import HttpError, StaleLogIdError, StuckError, UnavailableError
from .polling import Polling, doubling
from .tasks import Dispatch
from .transport import jittered, pause_seconds

_log = logging.getLogger("docket_client")


def _unevenly(failures: int) -> float:
    """Clients that failed together don't come back together."""
    return jittered(doubling(failures))


def _report(error: BaseException, dispatch: Optional[Dispatch]) -> None:
    _log.warning("%s%s: %s", f"task {dispatch.task_id}: " if dispatch else "", type(error).__name__, error)


def _is_over(error: HttpError) -> bool:
    """Whatever is sent after this, the dispatch is over."""
    return isinstance(error, StaleLogIdError) or error.code == "lease_lost"


class Puller(Polling[Dispatch]):
    """Asks for a user's next task, runs the handler, completes it with what the handler returned (S4.5, S4.7)."""

    def __init__(
        self,
        client: Client,
        uid: str,
        handler: Callable[[Dispatch], Any],
        *,
        exclude: Sequence[str] = (),
        wait: float = 10,
        backoff: Callable[[int], float] = _unevenly,
        stuck_after: int = 5,
        on_error: Callable[[BaseException, Optional[Dispatch]], None] = _report,
    ) -> None:
        """``uid``: whose tasks, their own and those of their groups; one loop for each user, who has one dispatch at a
        time. ``handler``: what it returns completes the dispatch, as its result; when it raises, the same dispatch
        comes again. ``exclude``: tasks, or ``task/occurrence``s, that are not to come. ``wait``: seconds that a server
        waits for a task to be due; a stop doesn't wait for it. ``backoff``: failures in a row → seconds until their
        dispatch is asked for again. ``stuck_after``: from this number of failures in a row on, ``on_error`` is told a
        StuckError. ``on_error``: told of what went wrong and is being dealt with."""
        super().__init__(1, wait, on_error)
        self._client = client
        self._uid = uid
        self._handler = handler
        self._exclude = exclude
        self._backoff = backoff
        self._stuck_after = stuck_after
        self._line = client.line()
        self._log_id = ""
        self._failures = 0  # in a row, of the dispatch with that log id

    def run(self) -> None:
        """Works until ``stop`` is called and a running handler's result has been taken.

        Raises AuthError or HttpError when asking is refused: going on would not help."""
        try:
            super().run()
        finally:
            self._line.close()

    def stop(self) -> None:
        """Nothing new is begun; a long poll or a pause under way ends at once. May be called from a signal handler."""
        super().stop()
        self._line.cut()

    def _ask(self) -> Optional[Dispatch]:
        return self._client.next(self._uid, self._exclude, self._wait, retry_seconds=0, line=self._line).dispatch

    def _take(self, dispatch: Dispatch) -> None:
        if self._stopping.is_set():
            return  # came while it was being stopped: it stays with the user, who gets it again
        if dispatch.log_id != self._log_id:
            self._failures = 0
        self._log_id = dispatch.log_id
        try:
            self._complete(dispatch, self._handler(dispatch))
        except Exception as error:
            self._failures += 1
            stuck = self._failures >= self._stuck_after
            self._on_error(StuckError(self._failures, error) if stuck else error, dispatch)
            self._stopping.wait(self._backoff(self._failures))

    def _complete(self, dispatch: Dispatch, result: Any) -> None:
        """Sends it until a server has taken it, has said no or fails at it: its answer may be lost when all the rest is done."""
        failures = 0
        while True:
            try:
                self._client.complete(self._uid, dispatch.log_id, result)
                return
            except HttpError as error:
                if not _is_over(error):
                    raise
                self._on_error(error, dispatch)
                return
            except UnavailableError as error:
                if self._stopping.is_set() or not error.is_passing:
                    raise
                self._on_error(error, dispatch)
            self._stopping.wait(pause_seconds(failures))
            failures += 1
