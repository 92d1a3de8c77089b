"""Calls the first server that answers."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from typing import Any, Dict, List, Optional, Sequence, Union

import httpx

from .errors import AuthError, HttpError, UnavailableError

Answer = Dict[str, Any]

_DISCOVER_SECONDS = 30.0
_LONGEST_PAUSE = 5.0
# what a server that listens everywhere calls itself; nobody else can call it that
_ANYWHERE = re.compile(r"^https?://(0\.0\.0\.0|\[::\])(:|/|$)")


class _Transient(Exception):
    """One try that failed in a way that another server, or a later time, may mend."""

    def __init__(self, message: str, retry_after: float = 0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Transport:
    """Every command of this package may be sent twice (adding goes by id, the others by token), so a try
    whose outcome is unknown is simply repeated. Used by many threads at once."""

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
        headers = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
        # each slot of a consumer has a connection to itself while it polls
        self._http = httpx.Client(headers=headers, limits=httpx.Limits(max_connections=None))

    def close(self) -> None:
        self._http.close()

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
        body: Optional[Answer] = None,
        *,
        wait: float = 0,
        timeout: Optional[float] = None,
        retry_seconds: Optional[float] = None,
    ) -> Answer:
        self._discover_when_due()
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        limit = (self._timeout if timeout is None else timeout) + wait
        until = time.monotonic() + (self._retry_seconds if retry_seconds is None else retry_seconds)
        rounds = 0
        while True:
            failure = _Transient("no server")
            for server in self.servers:
                try:
                    answer = self._once(server, method, path, content, limit)
                except _Transient as error:
                    failure = error
                    continue
                self._preferred = server
                return answer
            pause = max(pause_seconds(rounds), failure.retry_after)
            rounds += 1
            if time.monotonic() + pause > until:
                raise UnavailableError(f"no server answers: {failure}") from (failure.__cause__ or failure)
            time.sleep(pause)

    def _once(self, server: str, method: str, path: str, content: Optional[bytes], limit: float) -> Answer:
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            response = self._http.request(method, server + path, content=content, headers=headers, timeout=limit)
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _Transient(f"{server}: {error or type(error).__name__}") from error
        return _answer_of(server, response)

    def _discover_when_due(self) -> None:
        """What can't be learned now is asked for again later; the given servers are always there."""
        with self._lock:
            if time.monotonic() < self._discover_at:
                return
            self._discover_at = time.monotonic() + _DISCOVER_SECONDS
        try:
            nodes = self.call("GET", "/v1/nodes", retry_seconds=0)["items"]
        except (UnavailableError, HttpError) as error:
            if isinstance(error, AuthError):
                raise
            return
        self._learned = [node["url"] for node in nodes if node["url"] and not _ANYWHERE.match(node["url"])]


def _answer_of(server: str, response: httpx.Response) -> Answer:
    status = response.status_code
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
        raise _Transient(f"{server}: {status}: {detail}", _retry_after(response))
    kind = AuthError if status in (401, 403) else HttpError
    raise kind(status, told.get("code"), detail)


def _retry_after(response: httpx.Response) -> float:
    try:
        return min(float(response.headers.get("retry-after", "0")), _LONGEST_PAUSE)
    except ValueError:
        return 0.0


def pause_seconds(rounds: int) -> float:
    """Doubles from 0.1 s, and differs between callers, so that they don't come back all at once."""
    return min(_LONGEST_PAUSE, 0.1 * 2.0 ** min(rounds, 10)) * random.uniform(0.5, 1)
