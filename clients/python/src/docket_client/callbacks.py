"""Receives signed callbacks: each version of an item once, none after a newer one."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Protocol, Sequence, Tuple, Union

from standardwebhooks import Webhook, WebhookVerificationError

from .errors import SignatureError

# what a process remembers by itself
_REMEMBERED = 100_000


class Headers(Protocol):
    """What any framework has for a request's headers."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


class Versions(Protocol):
    """Where the versions are kept that were handled. Used by many threads at once, but never for one key."""

    def last(self, key: str) -> Optional[int]:
        """The last version that was kept for this key; None: there is none."""

    def keep(self, key: str, version: int) -> object:
        """This version has been handled."""


class MemoryVersions:
    """In this process only: after a restart, what is sent again is handled again."""

    def __init__(self, most: int = _REMEMBERED) -> None:
        """``most``: how many keys are remembered; the longest unused is forgotten first."""
        self._most = most
        self._lock = threading.Lock()
        self._versions: OrderedDict[str, int] = OrderedDict()

    def last(self, key: str) -> Optional[int]:
        with self._lock:
            if key in self._versions:
                self._versions.move_to_end(key)
            return self._versions.get(key)

    def keep(self, key: str, version: int) -> None:
        with self._lock:
            self._versions[key] = version
            self._versions.move_to_end(key)
            if len(self._versions) > self._most:
                self._versions.popitem(last=False)


@dataclass(frozen=True)
class Callback:
    """``id``: of the message, the same each time it is sent. ``type``: what happened, as ``ticket.decided``. ``key``:
    what its versions are counted by. ``item``: the ticket, case, review, job or occurrence of a task, as it was then,
    its fields named as in the API; ``message``: all that was sent, the item among it."""

    id: str
    type: str
    version: int
    kind: str
    item_id: str
    key: str
    item: Dict[str, Any]
    message: Dict[str, Any]


_memory = MemoryVersions()


def receive(
    *,
    headers: Headers,
    body: Union[bytes, str],
    secret: Union[str, Sequence[str]],
    handle: Callable[[Callback], object],
    versions: Versions = _memory,
) -> str:
    """Handles a callback, unless it has been handled already or is older than one that has. Those of one item are
    handled one after the other, in this process. What ``handle`` raises is raised here: answer with a 5xx, and Docket
    sends it again.

    ``headers``, ``body``: of the request, the body as it came. ``secret``: one, or several while they are being
    changed. ``versions``: where to keep what was handled; left out, in this process.

    Returns ``handled`` or ``repeated``; both are to be answered with a 2xx. Raises SignatureError, or
    ValueError for what is signed and no callback of Docket's."""
    given = {name.lower(): value for name, value in headers.items()}
    message = _verified(given, body, [secret] if isinstance(secret, str) else secret)
    callback = _opened(message, given["webhook-id"])
    with _alone(callback.key):
        last = versions.last(callback.key)
        # a job's version grows each time it is pushed, and it is over when it was handled once
        if last is not None and (callback.version <= last or callback.kind == "job"):
            return "repeated"
        handle(callback)
        versions.keep(callback.key, callback.version)
        return "handled"


def _verified(headers: Mapping[str, str], body: Union[bytes, str], secrets: Sequence[str]) -> Any:
    webhooks = [Webhook(secret) for secret in secrets]
    if not webhooks:
        raise ValueError("secret: at least one is needed")
    failure: Exception
    for webhook in webhooks:
        try:
            return webhook.verify(body, dict(headers))
        except json.JSONDecodeError:
            raise
        except (WebhookVerificationError, ValueError) as error:  # ValueError: headers that are no signature at all
            failure = error
    raise SignatureError(str(failure)) from failure


def _opened(message: Any, id: str) -> Callback:
    try:
        type = str(message["type"])
        kind = type.split(".")[0]
        item = message[kind]
        key = f"{kind}/{_keyed_by(type, item, message)}"
        return Callback(id, type, int(message["version"]), kind, str(item["id"]), key, item, message)
    except (TypeError, KeyError) as error:
        raise ValueError(f"not a callback of Docket's: {json.dumps(message)[:200]}") from error


def _keyed_by(type: str, item: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    if type == "job":
        # an id may be used again when its job is long gone
        return str(item["number"])
    if type == "case.invited":
        # all who are invited at once have the same version
        return f"{item['id']}/{message['juror']}"
    if type.startswith("task."):
        return f"{item['id']}/{item['occurrence']}"
    return str(item["id"])


_alone_lock = threading.Lock()
# those who are at a key or wait for it, and their lock
_at: Dict[str, List[Any]] = {}


@contextmanager
def _alone(key: str) -> Iterator[None]:
    """One at a time for each key."""
    with _alone_lock:
        entry = _at.setdefault(key, [0, threading.Lock()])
        entry[0] += 1
    try:
        with entry[1]:
            yield
    finally:
        with _alone_lock:
            entry[0] -= 1
            if entry[0] == 0:
                del _at[key]
