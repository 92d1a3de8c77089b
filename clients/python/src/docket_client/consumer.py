"""Pops, runs handlers, keeps their jobs alive, and finishes or releases them."""

from __future__ import annotations

import logging
from typing import Callable, Optional, Sequence, Union

from .client import Client, Job
from .errors import Bury, DocketError, Release
from .leases import Context, Kept, Remembered
from .polling import Polling, doubling

_log = logging.getLogger("docket_client")


def _report(error: BaseException, job: Optional[Job]) -> None:
    _log.warning("%s%s: %s", f"job {job.id}: " if job else "", type(error).__name__, error)


def _reason_of(failure: Exception) -> str:
    """What a reason may be: 2,000 units of UTF-16 without NUL and halves of surrogate pairs, and not none."""
    text = str(failure).replace("\0", "") or type(failure).__name__
    return text.encode("utf-16-le", "replace")[:4000].decode("utf-16-le", "ignore")


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
        with self._kept(job) as context:
            try:
                self._handler(job, context)
            except Exception as error:
                failure: Optional[Exception] = error
            else:
                failure = None
        if failure is None:
            self._client.finish(job)
            return
        self._on_error(failure, job)
        if isinstance(failure, Bury):
            self._client.bury(job, reason=_reason_of(failure))
        else:
            delay = failure.delay if isinstance(failure, Release) else self._backoff(job.attempt)
            self._client.release(job, delay=delay, reason=_reason_of(failure))

    def _kept(self, job: Job) -> Kept[Context]:
        """The job's TTR isn't even asked for before its handler has taken longer than the shortest."""
        return Kept(
            Context(),
            lambda seconds: self._client.touch(job, timeout=seconds, retry_seconds=0),
            Remembered(lambda: float(self._client.get(job.id)["TTR"])),
            lambda error: self._on_error(error, job),
        )
