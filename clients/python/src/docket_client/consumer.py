"""Pops, runs handlers, keeps their jobs alive, and finishes or releases them."""

from __future__ import annotations

import logging
import threading
import time
from typing import Callable, List, Optional, Sequence, Union

from .client import Client, Job
from .errors import Bury, DocketError, LeaseLostError, Release, UnavailableError
from .transport import pause_seconds

_log = logging.getLogger("docket_client")

# the smallest TTR there is: until a job's own is known, it could be this
_SHORTEST_TTR = 1.0
# three tries fit into a TTR
_BEATS = 3


def doubling(attempt: int) -> float:
    """1, 2, 4, … 300 seconds."""
    return min(300.0, 2.0 ** min(attempt - 1, 20))


def _report(error: BaseException, job: Optional[Job]) -> None:
    _log.warning("%s%s: %s", f"job {job.id}: " if job else "", type(error).__name__, error)


class Context:
    """What a handler can ask while it runs."""

    def __init__(self) -> None:
        self._lost = threading.Event()

    @property
    def lost(self) -> bool:
        """The job is no longer this consumer's: what the handler still does will not count."""
        return self._lost.is_set()


class Consumer:
    def __init__(
        self,
        client: Client,
        topics: Union[str, Sequence[str]],
        handler: Callable[[Job, Context], None],
        *,
        concurrency: int = 1,
        wait: float = 5,
        backoff: Callable[[int], float] = doubling,
        on_error: Callable[[BaseException, Optional[Job]], None] = _report,
    ) -> None:
        """``handler``: its return finishes the job; what it raises releases it, or buries it where that is a
        ``Bury``. ``concurrency``: threads, each with one job. ``wait``: seconds that a server waits for a job to
        come; a stop may take as long. ``backoff``: attempt → seconds until a job whose handler failed is ready
        again. ``on_error``: told of what went wrong and is being dealt with."""
        self._client = client
        self._topics = topics
        self._handler = handler
        self._concurrency = concurrency
        self._wait = wait
        self._backoff = backoff
        self._on_error = on_error
        self._stopping = threading.Event()
        self._fatal: List[BaseException] = []

    def run(self) -> None:
        """Works until ``stop`` is called and every running handler has returned.

        Raises AuthError, HttpError or RefusedError when popping is refused: going on would not help."""
        threads = [threading.Thread(target=self._slot, name=f"docket-{n}") for n in range(self._concurrency)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._fatal:
            raise self._fatal[0]

    def stop(self) -> None:
        """Nothing new is begun. May be called from a signal handler."""
        self._stopping.set()

    def _slot(self) -> None:
        try:
            self._pop_until_stopped()
        except BaseException as error:  # handed to the caller of run()
            self._fatal.append(error)
            self._stopping.set()

    def _pop_until_stopped(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                job = self._client.pop(self._topics, wait=self._wait, retry_seconds=0)
            except UnavailableError as error:
                self._on_error(error, None)
                self._stopping.wait(pause_seconds(failures))
                failures += 1
                continue
            failures = 0
            if job:
                self._take(job)
            elif time.monotonic() - began < min(self._wait, 1) / 2:
                # a server that is stopping answers long polls at once
                self._stopping.wait(pause_seconds(3))

    def _take(self, job: Job) -> None:
        try:
            if self._stopping.is_set():
                # came while it was being stopped: given back at once, so that it needn't wait for its TTR
                self._client.release(job)
            else:
                self._work(job)
        except DocketError as error:
            self._on_error(error, job)

    def _work(self, job: Job) -> None:
        context = Context()
        ended = threading.Event()
        threading.Thread(target=self._keep, args=(job, context, ended), daemon=True).start()
        try:
            self._handler(job, context)
        except Exception as error:
            ended.set()
            self._on_error(error, job)
            if isinstance(error, Bury):
                self._client.bury(job)
            else:
                delay = error.delay if isinstance(error, Release) else self._backoff(job.attempt)
                self._client.release(job, delay=delay)
        else:
            ended.set()
            self._client.finish(job)
        finally:
            ended.set()

    def _keep(self, job: Job, context: Context, ended: threading.Event) -> None:
        """Touches a job while its handler runs. A short handler costs no call: its job's TTR isn't even asked for."""
        ttr: Optional[float] = None
        while not ended.wait((ttr or _SHORTEST_TTR) / _BEATS):
            try:
                self._client.touch(job, timeout=max(1.0, (ttr or _SHORTEST_TTR) / _BEATS), retry_seconds=0)
                if ttr is None:
                    ttr = float(self._client.get(job.id)["TTR"])
            except DocketError as error:
                if ended.is_set():
                    return
                if isinstance(error, LeaseLostError):
                    context._lost.set()
                    return
                self._on_error(error, job)
