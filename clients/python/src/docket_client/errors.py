"""What this package raises, and what a handler may raise."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class DocketError(Exception):
    """Everything this package raises."""


class RefusedError(DocketError):
    """The server understood the command and refused it: ``{success: false, error}``.

    ``code`` is ``invalid_request``, ``lease_lost``, ``not_open``, or None where the text says it all;
    ``reason`` is how a reservation ended, if one did.
    """

    def __init__(self, answer: Mapping[str, Any]) -> None:
        super().__init__(answer.get("error") or answer.get("detail") or "the server gave no reason")
        self.id: Optional[str] = answer.get("id")
        self.code: Optional[str] = answer.get("code")
        self.reason: Optional[str] = answer.get("reason")


class LeaseLostError(RefusedError):
    """The token isn't live: the job was handed to someone else, finished or deleted; the ticket or case is open, and
    no longer the caller's.

    Of a ticket or case, ``reason`` is ``expired``, ``released``, ``transferred``, ``revoked`` or ``settled``,
    ``ended_at`` is when the lease ended, and ``holder`` who has the ticket now; None where no one does."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        super().__init__(answer)
        self.holder: Optional[str] = answer.get("holder")
        self.ended_at: Optional[str] = answer.get("endedAt")


class NotOpenError(RefusedError):
    """The ticket or case is final: ``state``, ``by`` whom, ``at`` what time, and the ``reason``, if one was given."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        super().__init__(answer)
        self.state: Optional[str] = answer.get("state")
        self.by: Optional[str] = answer.get("by")
        self.at: Optional[str] = answer.get("at")


class HttpError(DocketError):
    """The server answered with a 4xx: a repeat would get the same. ``problem`` is all that it said, by RFC 9457."""

    def __init__(
        self, status: int, code: Optional[str], detail: str, problem: Optional[Mapping[str, Any]] = None
    ) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.code = code
        self.problem: Mapping[str, Any] = problem or {}


class AuthError(HttpError):
    """401 or 403: the key is missing, wrong, or of a role that may not do this."""


class StaleLogIdError(HttpError):
    """A completion of what is not the user's last dispatch: it was returned meanwhile, or is someone else's (S4.7).

    ``current`` is the log id of the dispatch that is with the user now; None where none is."""

    def __init__(self, detail: str, current: Optional[str]) -> None:
        super().__init__(409, "stale_log_id", detail)
        self.current = current


class StuckError(DocketError):
    """A dispatch has failed so many times in a row, and no other can come before it. ``__cause__`` is the last
    failure."""

    def __init__(self, failures: int, cause: BaseException) -> None:
        super().__init__(f"failed {failures} times in a row, at last with {type(cause).__name__}: {cause}")
        self.failures = failures
        self.__cause__ = cause


class UnavailableError(DocketError):
    """No server took the call, for as long as it was repeated. ``__cause__`` is the last failure, ``status`` that of the
    last answer: 500 where a server failed at this call, else such as 503 or 429; None where there was none."""

    def __init__(self, message: str, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_passing(self) -> bool:
        """Whether the same call is likely to succeed later. A 500 says that the server fails at this very call."""
        return self.status != 500


class SignatureError(DocketError):
    """A callback is not signed with the secret, or was signed more than five minutes ago."""


class Bury(Exception):
    """Raised by a handler: set this job aside until someone kicks it."""


class Release(Exception):
    """Raised by a handler: give this job or ticket back, ready again after so many seconds."""

    def __init__(self, delay: float = 0, message: str = "released by its handler") -> None:
        super().__init__(message)
        self.delay = delay


class Skip(Exception):
    """Raised by a handler: give this ticket or case back, and never offer it to me again."""


class Decline(Exception):
    """Raised by a juror's handler: no to the invitation; another juror is invited instead."""


def http_error(status: int, detail: str, answer: Mapping[str, Any]) -> HttpError:
    """What a 4xx is, by its status and what it says of itself."""
    code = answer.get("code")
    if code == "stale_log_id":
        return StaleLogIdError(detail, answer.get("current"))
    return (AuthError if status in (401, 403) else HttpError)(status, code, detail, answer)


def refusal(error: HttpError, id: Optional[str]) -> DocketError:
    """The same error, as the class that tickets and cases have for it."""
    classes = {"lease_lost": LeaseLostError, "not_open": NotOpenError}
    of = classes.get(error.code or "")
    return of({**error.problem, "id": id}) if of else error
