"""Pops, runs handlers, keeps their jobs alive, and finishes or releases them."""

from __future__ import annotations

import logging
import threading
from typing import Callable, Optional, Sequence, Union

from .client import Client, Job
from .errors import Bury, DocketError, LeaseLostError, Release
from .polling import Polling, doubling

_log = logging.getLogger("docket_client")

# the smallest TTR there is: until a job's own is known, it could be this
_SHORTEST_TTR = 1.0
# three tries fit into a TTR
_BEATS = 3


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


class Consumer(Polling[Job]):
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
        super().__init__(concurrency, wait, on_error)
        self._client = client
        self._topics = topics
        self._handler = handler
        self._backoff = backoff

    def _ask(self) -> Optional[Job]:
        return self._client.pop(self._topics, wait=self._wait, retry_seconds=0)

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
