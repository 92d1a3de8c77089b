"""Cases: who brings them before a court, and who judges them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Union

from .batches import batches
from .items import BatchResult, Items, held, part
from .shapes import sent, shaped

# a call with so many takes about a second
_JURORS = 20_000


@dataclass(frozen=True)
class CaseLease:
    """Until ``expires_at`` the case is the juror's, who says so by the ``token``."""

    token: str
    expires_at: str


@dataclass(frozen=True)
class Case:
    """``state``: open, or finally decided, hung or invalidated. ``votes_left``: the fewest further votes that could
    decide it. ``lease``: of one that was claimed. ``resumed``: the juror held it already."""

    id: str
    court: str
    state: str
    parties: List[Dict[str, str]]
    body: Any
    tally: Dict[str, int]
    votes_left: int
    winner: Optional[str]
    holds: int
    wasted: int
    version: int
    created_at: str
    deadline_at: Optional[str]
    decided_at: Optional[str]
    ended_at: Optional[str]
    end_reason: Optional[str]
    of: Optional[Dict[str, str]]
    looks: List[Dict[str, Any]]
    standing: Optional[Dict[str, Any]]
    lease: Optional[CaseLease] = None
    resumed: bool = False


@dataclass(frozen=True)
class ClaimedCase:
    """``reasons``: counts of what was not for the juror, where there is no case."""

    case: Optional[Case]
    reasons: Optional[Dict[str, int]]


@dataclass(frozen=True)
class CountedVote:
    """``counted``: false of one that came too late, in a court that keeps such votes."""

    counted: bool
    case: Case


@dataclass(frozen=True)
class Invitation:
    """A case that waits for this juror's vote until ``expires_at``. It may be given wherever a claimed case may."""

    id: str
    court: str
    lease: CaseLease


Held = Union[Case, Invitation]


class Cases(Items):
    """Fields of courts, jurors and cases that are sent are named as in the API."""

    def put_court(self, court: str, settings: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces all settings of a court."""
        return self._call("PUT", f"/v1/courts/{part(court)}", settings)

    def get_court(self, court: str) -> Dict[str, Any]:
        return self._call("GET", f"/v1/courts/{part(court)}", of=court)

    def put_jurors(
        self, court: str, jurors: Iterable[Union[str, Mapping[str, Any]]], *, list: Optional[str] = None
    ) -> int:
        """Adds or changes jurors, given by their ids or as the API has them. ``list``: these are all jurors that the
        court has from now on, in one step however many they are; the name tells apart uploads that go on at the same
        time. Returns how many there are."""
        chunks = [*batches(({"id": one} if isinstance(one, str) else one for one in jurors), _JURORS)]
        path = f"/v1/courts/{part(court)}/jurors"
        last = max(0, len(chunks) - 1)
        total = 0
        for n, jurors in enumerate(chunks or [[]]):
            named = {} if list is None else {"list": list, "first": n == 0, "final": n == last}
            total = self._call("PUT", path, {"jurors": jurors, **named})["total"]
        return total

    def add(self, court: str, case: Mapping[str, Any]) -> Case:
        """Brings a case before a court, or finds the one with the same id and content.

        Raises HttpError with code id_conflict when the id stands for another case."""
        return _case(self._add(f"/v1/courts/{part(court)}/cases", case))

    def add_many(self, court: str, cases: Iterable[Mapping[str, Any]]) -> List[BatchResult]:
        """Any number of cases; each succeeds or fails by itself, in the order given."""
        return self._add_many(f"/v1/courts/{part(court)}/cases/batch", "cases", cases)

    def get(self, id: str) -> Case:
        """A case, in whatever state it is. A juror's key may see those that they hold or have voted on."""
        return _case(self._call("GET", _path(id), of=id))

    def invalidate(self, id: str, *, reason: str) -> Case:
        """No one needs to judge it any more; its holders are notified.

        Raises NotOpenError when it was final already, unless by the same call."""
        return _case(self._call("POST", _path(id, "invalidate"), {"reason": reason}, of=id))

    def appeal(self, id: str, *, reason: Optional[str] = None, by: Optional[str] = None) -> Case:
        """Appeals against a verdict: a second case for jurors who have not voted on it; once more, the same one.

        Raises HttpError with code not_final or already_open."""
        return _case(self._call("POST", _path(id, "looks"), sent(cause="appeal", reason=reason, by=by), of=id))

    def claim(self, court: str, juror: Optional[str] = None, *, retry_seconds: Optional[float] = None) -> ClaimedCase:
        """A case to judge: the one that the juror holds or is invited to, else a new one. ``JurorLoop`` does this and
        all that follows. ``juror`` may be left out with a reviewer's key."""
        path = f"/v1/courts/{part(court)}/claim"
        answer = self._call("POST", path, sent(juror=juror), of=court, retry_seconds=retry_seconds)
        if answer["case"] is None:
            return ClaimedCase(None, answer["reasons"])
        lease = shaped(CaseLease, answer["lease"])
        return ClaimedCase(_case(answer["case"], lease=lease, resumed=answer["resumed"]), None)

    def vote(self, case: Held, option: str, *, comment: Optional[str] = None) -> CountedVote:
        """Votes on a case that was claimed. The same vote once more is no error.

        Raises LeaseLostError, NotOpenError when it was decided meanwhile, or HttpError with code already_voted,
        conflict_of_interest or forbidden."""
        id, token = held(case)
        body = {**token, "option": option, **sent(comment=comment)}
        answer = self._call("POST", _path(id, "votes"), body, of=id)
        return CountedVote(answer["counted"], _case(answer["case"]))

    def renew(self, case: Held, *, timeout: Optional[float] = None, retry_seconds: Optional[float] = None) -> str:
        """A full lease again; when that ends. Raises LeaseLostError or NotOpenError."""
        id, token = held(case)
        answer = self._call("POST", _path(id, "renew"), token, of=id, timeout=timeout, retry_seconds=retry_seconds)
        return str(answer["expiresAt"])

    def release(self, case: Held, *, skip: bool = False) -> Case:
        """Gives a case back. ``skip``: it is not offered to this juror again."""
        id, token = held(case)
        return _case(self._call("POST", _path(id, "release"), {**token, "skip": skip}, of=id))

    def decline(self, case: Held) -> Case:
        """Says no to an invitation: another juror is invited instead."""
        id, token = held(case)
        return _case(self._call("POST", _path(id, "decline"), token, of=id))

    def invitations(self, juror: str, *, retry_seconds: Optional[float] = None) -> Iterator[Invitation]:
        """A juror's open invitations, newest first: one a court at most."""
        path = f"/v1/jurors/{part(juror)}/invitations"
        for one in self._transport.items(path, retry_seconds=retry_seconds):
            yield Invitation(one["case"], one["court"], shaped(CaseLease, one))


def _path(id: str, what: str = "") -> str:
    return f"/v1/cases/{part(id)}{what and '/' + what}"


def _case(answer: Mapping[str, Any], **more: Any) -> Case:
    return shaped(Case, answer, **more)
