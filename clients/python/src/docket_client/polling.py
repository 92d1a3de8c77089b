"""Asks and takes, in threads, until it is told to stop."""

from __future__ import annotations

import threading
import time
from typing import Callable, Generic, List, Optional, TypeVar

from .errors import UnavailableError
from .transport import Cut, pause_seconds

Work = TypeVar("Work")

# an answer that got lost is no news; a stop waits for it
RETRY_SECONDS = 1.0
# settings may change while a loop runs
SETTINGS_SECONDS = 60.0


def doubling(failures: int) -> float:
    """1, 2, 4, … 300 seconds."""
    return min(300.0, 2.0 ** min(failures - 1, 20))


class Polling(Generic[Work]):
    """What all loops have in common: while no server answers they ask ever more slowly."""

    def __init__(self, threads: int, wait: float, on_error: Callable[[BaseException, Optional[Work]], None]) -> None:
        self._threads = threads
        self._wait = wait
        self._on_error = on_error
        self._stopping = threading.Event()
        self._fatal: List[BaseException] = []

    def run(self) -> None:
        """Works until ``stop`` is called and every running handler has returned.

        Raises AuthError, HttpError or RefusedError when asking is refused: going on would not help."""
        # threads of its own even where one would do: a signal's handler must not meet a lock that its own thread holds
        threads = [threading.Thread(target=self._slot, name=f"docket-{n}") for n in range(self._threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._fatal:
            raise self._fatal[0]

    def stop(self) -> None:
        """Nothing new is begun. May be called from a signal handler."""
        self._stopping.set()

    def _ask(self) -> Optional[Work]:
        """One long poll. What it raises, other than UnavailableError, ends the loop."""
        raise NotImplementedError

    def _take(self, work: Work) -> None:
        raise NotImplementedError

    def _slot(self) -> None:
        try:
            self._poll_until_stopped()
        except Cut:
            return
        except BaseException as error:  # handed to the caller of run()
            self._fatal.append(error)
            self.stop()

    def _poll_until_stopped(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                work = self._ask()
            except UnavailableError as error:
                self._on_error(error, None)
                self._stopping.wait(pause_seconds(failures))
                failures += 1
                continue
            failures = 0
            if work:
                self._take(work)
            elif time.monotonic() - began < min(self._wait, 1) / 2:
                # a server that is stopping answers long polls at once
                self._stopping.wait(pause_seconds(3))
