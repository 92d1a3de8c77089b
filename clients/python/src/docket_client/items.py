"""What tickets and cases have in common."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple
from urllib.parse import quote

from .batches import batches
from .errors import HttpError, refusal
from .shapes import shaped
from .transport import Answer, Transport


@dataclass(frozen=True)
class BatchResult:
    """What became of one entry of many. ``http_status`` is 201 where it was added, 200 where it was there already with
    the same content, and else that of the problem, of which ``code`` and ``detail`` are."""

    id: Optional[str]
    http_status: int
    code: Optional[str] = None
    detail: Optional[str] = None


@dataclass(frozen=True)
class Event:
    """A line of an item's history."""

    seq: int
    type: str
    actor: str
    at: str
    data: Any


def part(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")


class Items:
    """Calls about items of one kind, whose refusals have the classes of their codes."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        of: Optional[str] = None,
        **options: Any,
    ) -> Answer:
        """``of``: the id of the item that it is about."""
        try:
            return self._transport.call(method, path, body, **options)
        except HttpError as error:
            raise refusal(error, of) from error

    def _add(self, path: str, item: Mapping[str, Any]) -> Answer:
        """Adds an item once, however often it has to be sent."""
        headers = {} if "id" in item else {"idempotency-key": str(uuid.uuid4())}
        return self._call("POST", path, item, headers=headers)

    def _add_many(self, path: str, name: str, items: Iterable[Mapping[str, Any]]) -> List[BatchResult]:
        """``name``: of the field with the items."""
        # an id from here, where there is none, does for a batch what the idempotency key does for one
        named = (item if "id" in item else {"id": str(uuid.uuid4()), **item} for item in items)
        results: List[BatchResult] = []
        for batch in batches(named):
            answer = self._call("POST", path, {name: batch})
            results += [shaped(BatchResult, result) for result in answer["results"]]
        return results


def held(item: Any) -> Tuple[str, Dict[str, str]]:
    """The id of an item that the caller holds, and the token that says so.

    Raises ValueError where there is none: only who was handed the item has it."""
    token = item.lease.token if item.lease else None
    if token is None:
        raise ValueError(f"{item.id} has no token: give the one that a claim handed out")
    return item.id, {"token": token}
