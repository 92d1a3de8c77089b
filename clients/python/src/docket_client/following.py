"""Answers that go on for as long as someone reads them."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from typing import Any, Callable, Generator, Generic, Iterator, Mapping, Optional, TypeVar

import httpx
from httpx_sse import EventSource

from .errors import HttpError, UnavailableError
from .shapes import shaped
from .transport import Cut, Transient, Transport, answer_of, pause_seconds

T = TypeVar("T")
Self = TypeVar("Self", bound="Following[Any]")

_log = logging.getLogger("docket_client")

_CONNECT_SECONDS = 10.0
# servers show every 15 seconds or more often that a connection lives
_SILENT_SECONDS = 45.0
# a connection that lasted so long was not refused
_LASTING_SECONDS = 5.0
_STEP_SECONDS = 0.1


def report(error: BaseException) -> None:
    _log.warning("connecting again: %s: %s", type(error).__name__, error)


@dataclass(frozen=True)
class StreamEvent:
    """``type``: lease_lost, changed, invited, available or stats; ``id``: what a stream resumes after."""

    type: str
    data: Any
    id: str


@dataclass(frozen=True)
class FeedEvent:
    """``seq``: the feed's own position; ``id``: stable, for upserts."""

    seq: int
    id: str
    kind: str
    item_id: str
    type: str
    actor: str
    at: str
    data: Any


class Following(Generic[T]):
    """An iterator that connects again where its answer broke off, ever more slowly while no server answers. For one
    thread; ``close`` may be called from another one, and from a signal handler.

    Raises HttpError when it is refused: going on would not help."""

    def __init__(self, transport: Transport, on_error: Callable[[BaseException], None], *, with_key: bool) -> None:
        self._transport = transport
        self._on_error = on_error
        self._line = transport.line(with_key=with_key)
        self._items = self._follow()

    def __iter__(self: Self) -> Self:
        return self

    def __next__(self) -> T:
        return next(self._items)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._items.close()

    def close(self) -> None:
        """Ends it, also while it waits."""
        self._line.cut()

    def _url(self, server: str) -> httpx.URL:
        """What to read from a server, from where the last answer broke off."""
        raise NotImplementedError

    def _headers(self) -> Mapping[str, str]:
        return {}

    def _read(self, response: httpx.Response) -> Iterator[T]:
        raise NotImplementedError

    def _has_more(self) -> bool:
        """Whether there is more to ask for at once, after an answer that was whole."""
        return False

    def _is_over(self) -> bool:
        """Whether such an answer is the end of it."""
        return False

    def _follow(self) -> Generator[T, None, None]:
        rounds = 0
        try:
            while not self._line.is_cut:
                asked = 0.0
                for server in self._transport.servers:
                    began = time.monotonic()
                    try:
                        yield from self._connect(server)
                        if self._is_over():
                            return
                    except (Transient, UnavailableError, httpx.TransportError, httpx.DecodingError) as error:
                        self._on_error(error)
                        asked = error.retry_after if isinstance(error, Transient) else 0.0
                    if time.monotonic() - began > _LASTING_SECONDS:
                        rounds = 0
                self._pause(max(pause_seconds(rounds), asked))
                rounds += 1
        except Cut:
            return
        finally:
            self._line.close()

    def _connect(self, server: str) -> Iterator[T]:
        self._transport.discover_when_due()
        timeout = httpx.Timeout(_CONNECT_SECONDS, read=_SILENT_SECONDS)
        while True:
            with self._line.stream(self._url(server), headers=self._headers(), timeout=timeout) as response:
                if response.status_code != 200:
                    response.read()
                    answer_of(response)
                self._transport.prefer(server)
                yield from self._read(response)
            if not self._has_more():
                return

    def _pause(self, seconds: float) -> None:
        """In steps instead of at an Event, whose lock a signal's handler must not meet."""
        until = time.monotonic() + seconds
        while not self._line.is_cut and time.monotonic() < until:
            time.sleep(_STEP_SECONDS)


class Stream(Following[StreamEvent]):
    """Events as they come, from server-sent events. None is missed between two connections."""

    def __init__(
        self,
        transport: Transport,
        of: Mapping[str, Optional[str]],
        last_event_id: Optional[str],
        ticket: Optional[Callable[[], str]],
        on_error: Callable[[BaseException], None],
    ) -> None:
        super().__init__(transport, on_error, with_key=False)
        self._of = {name: value for name, value in of.items() if value is not None}
        self._last = last_event_id
        self._ticket = ticket or (self._own_ticket if transport.has_key else None)

    def _own_ticket(self) -> str:
        return str(self._transport.call("POST", "/v1/stream-tickets", retry_seconds=0)["ticket"])

    def _url(self, server: str) -> httpx.URL:
        query = dict(self._of)
        if self._ticket:
            query["ticket"] = self._fresh_ticket(self._ticket)
        return httpx.URL(f"{server}/v1/stream", params=query)

    @staticmethod
    def _fresh_ticket(ticket: Callable[[], str]) -> str:
        try:
            return ticket()
        except (HttpError, UnavailableError):
            raise
        except Exception as error:  # the caller's own function, whatever it calls
            raise Transient(f"no stream ticket: {type(error).__name__}: {error}") from error

    def _headers(self) -> Mapping[str, str]:
        last = {} if self._last is None else {"last-event-id": self._last}
        return {"accept": "text/event-stream", **last}

    def _read(self, response: httpx.Response) -> Iterator[StreamEvent]:
        for event in EventSource(response).iter_sse():
            if event.id:
                self._last = event.id
            # where the stream begins, and signs of life, have no data
            if event.data:
                yield StreamEvent(event.event, event.json(), event.id)


class Feed(Following[FeedEvent]):
    """Events of all items, in the order of ``seq``, none missing and none twice."""

    def __init__(
        self, transport: Transport, after: int, follow: bool, on_error: Callable[[BaseException], None]
    ) -> None:
        super().__init__(transport, on_error, with_key=True)
        self._after = after
        self._follows = follow
        self._found = 0

    def _url(self, server: str) -> httpx.URL:
        query = {"after": str(self._after), **({"follow": "true"} if self._follows else {})}
        return httpx.URL(f"{server}/v1/feed", params=query)

    def _has_more(self) -> bool:
        return not self._follows and self._found > 0

    def _is_over(self) -> bool:
        return not self._follows

    def _read(self, response: httpx.Response) -> Iterator[FeedEvent]:
        self._found = 0
        rest = b""
        for chunk in response.iter_bytes():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                # a blank one is a sign of life
                if line:
                    event = shaped(FeedEvent, json.loads(line))
                    self._after = event.seq
                    self._found += 1
                    yield event
