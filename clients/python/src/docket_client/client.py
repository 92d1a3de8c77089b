"""All calls, over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote
from uuid import uuid4

from .batches import batches
from .cases import Cases
from .errors import LeaseLostError, RefusedError
from .following import Feed, Stream, report
from .reviews import Reviews
from .shapes import sent
from .tasks import NextDispatch, next_dispatch
from .tickets import Tickets
from .transport import Answer, Line, Transport


@dataclass(frozen=True)
class NewJob:
    """``id`` is yours. ``key`` names one add, so that a repeat of it is one run; it is made up where it is left out."""

    topic: str
    id: str
    body: Any
    delay: float = 0
    ttr: float = 60
    priority: int = 1024
    key: Optional[str] = None

    def as_json(self) -> Dict[str, Any]:
        return {
            "topic": self.topic,
            "id": self.id,
            "delay": self.delay,
            "TTR": self.ttr,
            "body": self.body,
            "priority": self.priority,
            "key": self.key or uuid4().hex,
        }


@dataclass(frozen=True)
class Job:
    """A job as it is handed out. ``attempt`` counts its hand-outs from 1."""

    id: str
    value: Any
    topic: str
    attempt: int
    token: str


@dataclass(frozen=True)
class AddResult:
    id: Optional[str]
    success: bool
    error: Optional[str]


@dataclass(frozen=True)
class PeekedJob:
    """``state``: delayed, ready, reserved, buried, finished or deleted."""

    id: str
    value: Any
    topic: str
    state: str


class Client:
    """Every call goes to the next server when one fails, and may safely be sent twice. Used by many
    threads at once, but not across a fork. Its own calls are about jobs and tasks; those about tickets, cases and
    reviews are its members' of these names."""

    def __init__(
        self,
        servers: Union[str, Sequence[str]],
        *,
        api_key: Optional[str] = None,
        timeout: float = 10,
        retry_seconds: float = 30,
        discover: bool = False,
    ) -> None:
        """``servers``: ``http://host:port`` of each, the preferred one first. ``timeout``: seconds that one try
        may take, on top of what a long poll waits. ``retry_seconds``: how long a call is repeated while no
        server answers. ``discover``: ask the servers which others there are; for servers whose HOST is an
        address that clients can reach."""
        self._transport = Transport(servers, api_key, timeout, retry_seconds, discover)
        self.tickets = Tickets(self._transport)
        self.cases = Cases(self._transport)
        self.reviews = Reviews(self._transport)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    @property
    def servers(self) -> List[str]:
        """The servers in the order in which they are tried, those found by ``discover`` included."""
        return self._transport.servers

    def add(
        self, topic: str, id: str, body: Any, *, delay: float = 0, ttr: float = 60, priority: int = 1024,
        key: Optional[str] = None
    ) -> bool:
        """Adds a job; where the one of this id is over, its next run. False: it was there already, with the same content.

        Raises RefusedError when the id stands for another job, or a value is wrong."""
        job = NewJob(topic, id, body, delay, ttr, priority, key)
        answer = self._command({"command": "add", **job.as_json()})
        return answer.get("already") is not True

    def add_many(self, jobs: Iterable[NewJob]) -> List[AddResult]:
        """Any number of jobs; each succeeds or fails by itself, in the order given."""
        results: List[AddResult] = []
        for batch in batches(job.as_json() for job in jobs):
            answer = self._call({"command": "add", "jobs": batch})
            if "results" not in answer:
                raise RefusedError(answer)
            results += [AddResult(r["id"], r["success"], r["error"]) for r in answer["results"]]
        return results

    def delete(self, id: str) -> None:
        """Ends a job in any state. Deleting it again is no error."""
        self._command({"command": "delete", "id": id})

    def peek(self, *, id: Optional[str] = None, topic: Optional[str] = None) -> Optional[PeekedJob]:
        """Looks at a job, or at the next one of a topic, and changes nothing."""
        if (id is None) == (topic is None):
            raise TypeError("give either id or topic")
        answer = self._call({"command": "peek", **({"topic": topic} if id is None else {"id": id})})
        if not answer["success"] and answer.get("code") != "not_found":
            raise RefusedError(answer)
        if not answer["success"] or answer["id"] is None:
            return None
        return PeekedJob(answer["id"], answer["value"], answer["topic"], answer["state"])

    def get(self, id: str) -> Dict[str, Any]:
        """All about a job, in whatever state it is."""
        return self._transport.call("GET", f"/v1/jobs/{quote(id, safe='')}")

    def pop(
        self, topic: Union[str, Sequence[str]], *, wait: float = 0, retry_seconds: Optional[float] = None
    ) -> Optional[Job]:
        """Reserves the next job. ``Consumer`` does this and all that follows."""
        topics = topic if isinstance(topic, str) else list(topic)
        answer = self._command(
            {"command": "pop", "topic": topics, "wait": wait}, wait=wait, retry_seconds=retry_seconds
        )
        if answer["id"] is None:
            return None
        return Job(answer["id"], answer["value"], answer["topic"], answer["attempt"], answer["token"])

    def finish(self, job: Job) -> None:
        """Raises LeaseLostError when the token isn't live; once more with the same token is no error."""
        self._command({"command": "finish", "id": job.id, "token": job.token})

    def touch(self, job: Job, *, timeout: Optional[float] = None, retry_seconds: Optional[float] = None) -> None:
        """A full TTR again."""
        command = {"command": "touch", "id": job.id, "token": job.token}
        self._command(command, timeout=timeout, retry_seconds=retry_seconds)

    def release(
        self, job: Job, *, delay: float = 0, priority: Optional[int] = None, reason: Optional[str] = None
    ) -> None:
        """Gives it back; ``reason`` is shown as the job's ``lastReason``."""
        more = sent(priority=priority, reason=reason)
        self._hand_back({"command": "release", "id": job.id, "token": job.token, "delay": delay, **more})

    def bury(self, job: Job, *, reason: Optional[str] = None) -> None:
        """Sets it aside until it is kicked."""
        self._hand_back({"command": "bury", "id": job.id, "token": job.token, **sent(reason=reason)})

    def add_template(self, id: str, params: Mapping[str, Any], *, name: Optional[str] = None) -> None:
        """Keeps what tasks' params must look like, as ``{"address": {"type": "string"}}`` (S4.1). The same again is
        no error."""
        self._transport.call("POST", "/v1/templates", {"id": id, "name": name or id, "params": params})

    def change_template(self, id: str, changes: Mapping[str, Any]) -> None:
        """Changes its ``name`` or ``params``; tasks keep the version that they were made with."""
        self._transport.call("PATCH", f"/v1/templates/{quote(id, safe='')}", changes)

    def put_group(self, gid: str, members: Iterable[str]) -> None:
        """Replaces a group's members; it counts from their next pull on (S4.3)."""
        self._transport.call("PUT", f"/v1/groups/{quote(gid, safe='')}", {"members": list(members)})

    def add_task(self, id: str, task: Mapping[str, Any]) -> Dict[str, Any]:
        """Adds a task, its fields named as in the API, or finds it with the same content. ``id`` is yours and unique:
        it is what makes a repeat harmless.

        Raises HttpError with code template_mismatch, limit_reached, id_conflict or invalid_request."""
        return self._transport.call("POST", "/v1/tasks", {**task, "id": id})

    def next(
        self,
        uid: str,
        exclude: Iterable[str] = (),
        wait: float = 0,
        *,
        retry_seconds: Optional[float] = None,
        line: Optional[Line] = None,
    ) -> NextDispatch:
        """A user's unfinished dispatch again, or the next one that is due for the user or a group (S4.5). ``Puller``
        does this and all that follows. ``line``: so that another thread can break the call off; what it may have
        handed out is handed out again, with the same log id."""
        body = {"exclude": list(exclude), "waitSeconds": wait}
        path = f"/v1/clients/{quote(uid, safe='')}/next"
        return next_dispatch(
            self._transport.call("POST", path, body, wait=wait, retry_seconds=retry_seconds, line=line)
        )

    def complete(self, uid: str, log_id: str, result: Any = None) -> str:
        """Completes a dispatch; once more with the same result is no error. The instant at which it was completed.

        Raises StaleLogIdError when it isn't the user's last one (S4.7), HttpError with code lease_lost when it was
        completed with another result, TypeError or ValueError for a result that JSON can't say."""
        path = f"/v1/clients/{quote(uid, safe='')}/complete"
        answer = self._transport.call("POST", path, {"logId": log_id, "result": result})
        return str(answer["completedAt"])

    def release_task(self, uid: str, log_id: Optional[str] = None, *, reason: Optional[str] = None) -> str:
        """Gives a user's last dispatch back, for others to take; once more is no error. The instant at which it was
        given back. ``log_id``: left out by an operator, for whatever the user has.

        Raises StaleLogIdError when it is completed, or isn't the user's last one."""
        path = f"/v1/clients/{quote(uid, safe='')}/release"
        return str(self._transport.call("POST", path, sent(log_id=log_id, reason=reason))["releasedAt"])

    def stream(
        self,
        *,
        reviewer: Optional[str] = None,
        queue: Optional[str] = None,
        juror: Optional[str] = None,
        last_event_id: Optional[str] = None,
        ticket: Optional[Callable[[], str]] = None,
        on_error: Callable[[BaseException], None] = report,
    ) -> Stream:
        """Events for a reviewer (what they hold was changed or taken away), a queue (that, and what is new in it) or a
        juror (that, and invitations), as they come, until it is closed. With a reviewer's key none of the three need
        be given. ``last_event_id``: of an event, after which it resumes. ``ticket``: gets a stream ticket for each
        connection from someone who has a key; left out, they are made with the client's own. ``on_error``: told of
        connections that failed, and are made again."""
        of = {"reviewer": reviewer, "queue": queue, "juror": juror}
        return Stream(self._transport, of, last_event_id, ticket, on_error)

    def feed(
        self, *, after: int = 0, follow: bool = False, on_error: Callable[[BaseException], None] = report
    ) -> Feed:
        """Events of all items, in the order of their ``seq``, beginning after a ``seq``. ``follow``: to stay at the
        end, and go on as they come, until it is closed; left out, it ends there. ``on_error``: told of connections
        that failed, and are made again."""
        return Feed(self._transport, after, follow, on_error)

    def line(self) -> Line:
        """Connections for ``next`` that another thread may cut."""
        return self._transport.line()

    def _hand_back(self, command: Answer) -> None:
        try:
            self._command(command)
        except LeaseLostError as error:
            # a repeat: the first try has already ended the token's lease, which is what was wanted
            if error.reason != "released":
                raise

    def _command(self, command: Answer, **options: Any) -> Answer:
        answer = self._call(command, **options)
        if answer["success"]:
            return answer
        raise (LeaseLostError if answer.get("code") in ("lease_lost", "not_open") else RefusedError)(answer)

    def _call(self, command: Answer, **options: Any) -> Answer:
        return self._transport.call("POST", "/v1/jobs", command, **options)
