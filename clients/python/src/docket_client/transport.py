"""Calls the first server that answers."""

from __future__ import annotations

import json
import random
import re
import socket
import threading
import time
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import urlencode

import httpx

from .errors import HttpError, UnavailableError, http_error

Answer = Dict[str, Any]

_DISCOVER_SECONDS = 30.0
_LONGEST_PAUSE = 5.0
_PAGE = 100
# what a server that listens everywhere calls itself; no one else can call it that
_ANYWHERE = re.compile(r"^https?://(0\.0\.0\.0|\[::\])(:|/|$)")


class Transient(Exception):
    """One try that failed in a way that another server, or a later time, may mend."""

    def __init__(self, message: str, retry_after: float = 0, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.status = status  # of an answer


class Cut(Exception):
    """A call was broken off by ``Line.cut``."""


class Line:
    """Connections of their own, for the calls of one thread, which another may break off."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._http = httpx.Client(headers=headers)
        self._sockets: List[socket.socket] = []
        self.is_cut = False

    def cut(self) -> None:
        """The call under way, and any that comes later, raises ``Cut``. May be called from a signal handler."""
        self.is_cut = True
        for one in list(self._sockets):
            _shut(one)

    def close(self) -> None:
        """When no call is under way."""
        self._http.close()

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        """As httpx has it."""
        if self.is_cut:
            raise Cut
        try:
            return self._http.request(method, url, extensions={"trace": self._notice}, **options)
        except Exception:
            if self.is_cut:
                raise Cut from None
            raise

    @contextmanager
    def stream(self, url: httpx.URL, **options: Any) -> Iterator[httpx.Response]:
        """An answer that is read bit by bit."""
        if self.is_cut:
            raise Cut
        try:
            with self._http.stream("GET", url, extensions={"trace": self._notice}, **options) as response:
                yield response
        except Exception:
            if self.is_cut:
                raise Cut from None
            raise

    def _notice(self, event: str, info: Mapping[str, Any]) -> None:
        """Remembers each new connection: httpx has no other way to what a running request waits at."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            new = info["return_value"].get_extra_info("socket")
            self._sockets = [one for one in self._sockets if one.fileno() != -1] + [new]
            if self.is_cut:
                _shut(new)


def _shut(one: socket.socket) -> None:
    try:
        # unlike a close it wakes who reads; SSLSocket has its own, which makes the reader stumble
        socket.socket.shutdown(one, socket.SHUT_RDWR)
    except OSError:
        return


class Transport:
    """Every call of this package may be sent twice (adding goes by id or idempotency key, the others by token or log
    id), so a try whose outcome is unknown is simply repeated. Used by many threads at once."""

    def __init__(
        self,
        servers: Union[str, Sequence[str]],
        api_key: Optional[str],
        timeout: float,
        retry_seconds: float,
        discover: bool,
    ) -> None:
        given = [servers] if isinstance(servers, str) else list(servers)
        if not given:
            raise ValueError("servers: at least one is needed")
        self._given = [url.rstrip("/") for url in given]
        self._learned: List[str] = []
        self._preferred: Optional[str] = None
        self._timeout = timeout
        self._retry_seconds = retry_seconds
        self._discover_at = 0.0 if discover else float("inf")
        self._lock = threading.Lock()
        self.has_key = api_key is not None
        self._headers = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
        # each slot of a consumer has a connection to itself while it polls
        self._http = httpx.Client(headers=self._headers, limits=httpx.Limits(max_connections=None))

    def close(self) -> None:
        self._http.close()

    def line(self, *, with_key: bool = True) -> Line:
        return Line(self._headers if with_key else {})

    def prefer(self, server: str) -> None:
        """This one has answered, and is asked first from now on."""
        self._preferred = server

    @property
    def servers(self) -> List[str]:
        """In the order in which they are tried."""
        servers = list(dict.fromkeys([*self._given, *self._learned]))
        first = servers.index(self._preferred) if self._preferred in servers else 0
        return servers[first:] + servers[:first]

    def call(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        wait: float = 0,
        timeout: Optional[float] = None,
        retry_seconds: Optional[float] = None,
        line: Optional[Line] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Answer:
        """Raises HttpError for a 4xx, UnavailableError when no server answers for so long, TypeError or ValueError
        for a body that JSON can't say, and Cut when the line is cut."""
        self.discover_when_due(line)
        content = None if body is None else json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
        sent = {**({} if content is None else {"content-type": "application/json"}), **(headers or {})}
        limit = (self._timeout if timeout is None else timeout) + wait
        until = time.monotonic() + (self._retry_seconds if retry_seconds is None else retry_seconds)
        rounds = 0
        while True:
            failure = Transient("no server")
            for server in self.servers:
                try:
                    answer = self._once(line or self._http, method, server + path, content, sent, limit)
                except Transient as error:
                    # one that fails at the call says more than one that is away
                    if failure.status != 500:
                        failure = error
                    continue
                self.prefer(server)
                return answer
            pause = max(pause_seconds(rounds), failure.retry_after)
            rounds += 1
            if time.monotonic() + pause > until:
                unavailable = UnavailableError(f"no server answers: {failure}", failure.status)
                raise unavailable from (failure.__cause__ or failure)
            time.sleep(pause)

    def items(self, path: str, query: Optional[Mapping[str, Any]] = None, **options: Any) -> Iterator[Answer]:
        """All that a list has, page by page as it is read."""
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        cursor: Optional[str] = None
        while True:
            more = {} if cursor is None else {"cursor": cursor}
            page = self.call("GET", f"{path}?{urlencode({**asked, 'limit': _PAGE, **more})}", **options)
            yield from page["items"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    @staticmethod
    def _once(
        http: Union[httpx.Client, Line],
        method: str,
        url: str,
        content: Optional[bytes],
        headers: Mapping[str, str],
        limit: float,
    ) -> Answer:
        try:
            response = http.request(method, url, content=content, headers=headers, timeout=limit)
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise Transient(f"{url}: {error or type(error).__name__}") from error
        return answer_of(response)

    def discover_when_due(self, line: Optional[Line] = None) -> None:
        """What can't be learned now is asked for again later; the given servers are always there."""
        with self._lock:
            if time.monotonic() < self._discover_at:
                return
            self._discover_at = time.monotonic() + _DISCOVER_SECONDS
        try:
            nodes = self.call("GET", "/v1/nodes", retry_seconds=0, line=line)["items"]
        except (UnavailableError, HttpError):
            return
        self._learned = [node["url"] for node in nodes if node["url"] and not _ANYWHERE.match(node["url"])]


def answer_of(response: httpx.Response) -> Answer:
    """What a server answered. Raises Transient for what another server, or a later time, may mend, else HttpError."""
    status = response.status_code
    if status == 204:
        return {}
    try:
        parsed = response.json()
    except ValueError:
        parsed = None
    answer: Optional[Answer] = parsed if isinstance(parsed, dict) else None
    if 200 <= status < 300 and answer is not None:
        return answer
    told = answer or {}
    detail = str(told.get("error") or told.get("detail") or response.text[:200])
    if status >= 500 or status == 429 or status < 400:
        # without its query, which may have a stream ticket
        url = response.url.copy_with(query=None)
        raise Transient(f"{url}: {status}: {detail}", _retry_after(response), status)
    raise http_error(status, detail, told)


def _retry_after(response: httpx.Response) -> float:
    try:
        return min(float(response.headers.get("retry-after", "0")), _LONGEST_PAUSE)
    except ValueError:
        return 0.0


def pause_seconds(rounds: int) -> float:
    """Doubles from 0.1 s, and differs between callers, so that they don't come back all at once."""
    return jittered(min(_LONGEST_PAUSE, 0.1 * 2.0 ** min(rounds, 10)))


def jittered(seconds: float) -> float:
    """Between half and the whole of it."""
    return seconds * random.uniform(0.5, 1)
