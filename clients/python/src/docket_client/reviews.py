"""Reviews, and what audits say about them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional

from .items import part
from .shapes import sent, shaped
from .transport import Transport


@dataclass(frozen=True)
class Audited:
    """``audit_time``: of the audit that gave it its status; None before the first one."""

    status: int
    audit_time: Optional[str]


@dataclass(frozen=True)
class Target:
    """A picture or a reply of a review."""

    id: str
    position: int
    status: int
    audit_time: Optional[str]


@dataclass(frozen=True)
class Review:
    """``status``: of the whole review, which is its text's."""

    id: str
    status: int
    text: Audited
    pictures: List[Target]
    replies: List[Target]
    body: Any
    version: int
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class CallbackOutcome:
    """``outcome``: pending, applied, expired, or duplicate; of a duplicate, ``first_outcome`` is what became of the
    callback that came first."""

    callback_id: str
    outcome: str
    first_outcome: Optional[str] = None


@dataclass(frozen=True)
class LogLine:
    """What became of one callback or edit; ``before`` and ``after`` have all targets as they were then, named as in the
    API."""

    seq: int
    callback_id: Optional[str]
    kind: str
    target_id: Optional[str]
    status: Optional[int]
    audit_time: Optional[str]
    received_at: str
    applied_at: str
    outcome: str
    reason: Optional[str]
    before: Dict[str, Any]
    after: Dict[str, Any]
    version: Optional[int]


class Reviews:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def put(self, id: str, review: Mapping[str, Any]) -> Review:
        """The author's review, created or edited, its fields named as in the API. Targets that survive an edit keep
        their status, and the others are removed."""
        return _review(self._transport.call("PUT", _path(id), review))

    def get(self, id: str) -> Review:
        return _review(self._transport.call("GET", _path(id)))

    def log(self, id: str) -> Iterator[LogLine]:
        """What became of every callback and edit, oldest first."""
        return (shaped(LogLine, line) for line in self._transport.items(_path(id, "log")))

    def callback(
        self,
        id: str,
        *,
        kind: str,
        status: int,
        target_id: Optional[str] = None,
        audit_time: Optional[str] = None,
        callback_id: Optional[str] = None,
        wait_seconds: float = 0,
    ) -> CallbackOutcome:
        """What an audit said about the ``text``, a ``picture`` or a ``reply``. ``audit_time``: left out, the server's
        clock at its arrival. ``callback_id``: yours, so that the same one sent twice is a duplicate; left out, the call
        has one of its own. ``wait_seconds``: for how long to wait until its outcome is known."""
        said = sent(kind=kind, target_id=target_id, status=status, audit_time=audit_time, callback_id=callback_id)
        return self._callback(_path(id, "callbacks"), {**said, "waitSeconds": wait_seconds})

    def callbacks(
        self, id: str, callbacks: Iterable[Mapping[str, Any]], *, wait_seconds: float = 0
    ) -> List[CallbackOutcome]:
        """Several of a review, named as in the API, all of them or none; their outcomes in the same order."""
        all = [*callbacks]
        body = {"callbacks": [_named(one) for one in all], "waitSeconds": wait_seconds}
        answer = self._transport.call("POST", _path(id, "callbacks"), body, wait=wait_seconds)
        return [_outcome(one, asked) for one, asked in zip(answer["results"], all)]

    def picture_callback(
        self,
        picture_id: str,
        *,
        status: int,
        audit_time: Optional[str] = None,
        callback_id: Optional[str] = None,
        wait_seconds: float = 0,
    ) -> CallbackOutcome:
        """The same where only the picture is known."""
        asked = sent(status=status, audit_time=audit_time, callback_id=callback_id, wait_seconds=wait_seconds)
        return self._callback(f"/v1/pictures/{part(picture_id)}/callbacks", asked)

    def _callback(self, path: str, asked: Mapping[str, Any]) -> CallbackOutcome:
        return _outcome(self._transport.call("POST", path, _named(asked), wait=asked["waitSeconds"]), asked)


def _named(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"callbackId": str(uuid.uuid4()), **asked}


def _outcome(answer: Mapping[str, Any], asked: Mapping[str, Any]) -> CallbackOutcome:
    first = (answer.get("first") or {}).get("outcome")
    outcome = shaped(CallbackOutcome, answer, first_outcome=first)
    if "callbackId" not in asked and first is not None:
        # of an id that no one else has, the first one can only be this call's own, whose answer was lost
        return replace(outcome, outcome=first, first_outcome=None)
    return outcome


def _path(id: str, what: str = "") -> str:
    return f"/v1/reviews/{part(id)}{what and '/' + what}"


def _review(answer: Mapping[str, Any]) -> Review:
    return shaped(
        Review,
        answer,
        text=shaped(Audited, answer["text"]),
        pictures=[shaped(Target, one) for one in answer["pictures"]],
        replies=[shaped(Target, one) for one in answer["replies"]],
    )
