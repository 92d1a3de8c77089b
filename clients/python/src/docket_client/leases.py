"""Leases that are renewed while a handler runs."""

from __future__ import annotations

import threading
import time
from typing import Callable, Generic, Optional, TypeVar

from .errors import DocketError, HttpError, LeaseLostError, NotOpenError

# until a lease's length is known, it could be this; the smallest TTR there is
_SHORTEST_SECONDS = 1.0
# three tries fit into a lease
_BEATS = 3
_RETRY_SECONDS = 1.0


class Context:
    """What a handler can ask while it runs."""

    def __init__(self) -> None:
        self._lost = threading.Event()
        self._loss: Optional[DocketError] = None

    @property
    def lost(self) -> bool:
        """The job, ticket or case is no longer this handler's: what it still does will not count."""
        return self._lost.is_set()

    @property
    def loss(self) -> Optional[DocketError]:
        """How it was lost."""
        return self._loss

    def lose(self, loss: DocketError) -> None:
        self._loss = loss
        self._lost.set()


class Remembered:
    """What is asked for once, and again when it is older than so many seconds."""

    def __init__(self, ask: Callable[[], float], seconds: float = float("inf")) -> None:
        self._ask = ask
        self._seconds = seconds
        self._known: Optional[float] = None
        self._until = 0.0

    def __call__(self) -> float:
        if self._known is None or time.monotonic() > self._until:
            self._known = self._ask()
            self._until = time.monotonic() + self._seconds
        return self._known


C = TypeVar("C", bound=Context)


class Kept(Generic[C]):
    """While it is entered, another thread renews a lease. Work that is done before the first renewal costs no call."""

    def __init__(
        self,
        context: C,
        renew: Callable[[float], object],
        length: Callable[[], float],
        on_error: Callable[[DocketError], None],
        *,
        seconds: Optional[float] = None,
        at_once: bool = False,
    ) -> None:
        """``renew``: by a call that may take so many seconds. ``length``: how long a renewed lease is. ``seconds``: how
        long the one that was granted is, if that is known. ``at_once``: it may end soon."""
        self._context = context
        self._renew = renew
        self._length = length
        self._on_error = on_error
        self._pause = (seconds or _SHORTEST_SECONDS) / _BEATS
        self._is_known = seconds is not None
        self._at_once = at_once
        self._ended = threading.Event()

    def __enter__(self) -> C:
        threading.Thread(target=self._run, daemon=True).start()
        return self._context

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _run(self) -> None:
        pause = 0.0 if self._at_once else self._pause
        while not self._ended.wait(pause):
            try:
                self._renew(max(1.0, self._pause))
                self._pause = self._length() / _BEATS
                self._is_known = True
                pause = self._pause
            except DocketError as error:
                if self._ended.is_set():
                    return
                if _is_gone(error):
                    self._context.lose(error)
                    return
                self._on_error(error)
                # a try that hung has taken the time until the next one; of an unknown length the pause is short already
                pause = min(_RETRY_SECONDS, self._pause / _BEATS) if self._is_known else self._pause


def _is_gone(error: DocketError) -> bool:
    return isinstance(error, (LeaseLostError, NotOpenError)) or isinstance(error, HttpError) and error.status == 404
