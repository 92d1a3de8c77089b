"""Claims one juror's cases, runs the handler, and votes."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Callable, Optional, Union

from .cases import Case
from .client import Client
from .errors import Decline, DocketError, HttpError, Skip, UnavailableError
from .leases import Context, Kept, Remembered
from .polling import RETRY_SECONDS, SETTINGS_SECONDS, Polling, doubling
from .transport import pause_seconds

_log = logging.getLogger("docket_client")


def _report(error: BaseException, case: Optional[Case]) -> None:
    _log.warning("%s%s: %s", f"case {case.id}: " if case else "", type(error).__name__, error)


@dataclass(frozen=True)
class Vote:
    """What a juror's handler returns, where the option alone isn't all there is to say."""

    option: str
    comment: Optional[str] = None


class JurorContext(Context):
    """``invited``: the case came by an invitation, which may be declined."""

    def __init__(self, invited: bool) -> None:
        super().__init__()
        self.invited = invited


class JurorLoop(Polling[Case]):
    """One for each juror and court: a juror holds one case of a court at a time."""

    def __init__(
        self,
        client: Client,
        court: str,
        juror: str,
        handler: Callable[[Case, JurorContext], Union[str, Vote]],
        *,
        pause_seconds: float = 5,
        backoff: Callable[[int], float] = doubling,
        on_error: Callable[[BaseException, Optional[Case]], None] = _report,
    ) -> None:
        """``handler``: what it returns is the vote, an option or a ``Vote``; what it raises gives the case back.
        ``pause_seconds``: between two claims while there is nothing to judge. ``backoff``: failures in a row →
        seconds until the next case is claimed. ``on_error``: told of what went wrong and is being dealt with."""
        super().__init__(1, pause_seconds, on_error)
        self._cases = client.cases
        self._court = court
        self._juror = juror
        self._handler = handler
        self._backoff = backoff
        self._length = Remembered(lambda: float(self._cases.get_court(court)["leaseSeconds"]), SETTINGS_SECONDS)
        self._answer_length = Remembered(self._answer_seconds, SETTINGS_SECONDS)
        self._failures = 0  # in a row

    def _ask(self) -> Optional[Case]:
        case = self._cases.claim(self._court, self._juror, retry_seconds=RETRY_SECONDS).case
        if case is None:
            self._stopping.wait(self._wait)
        return case

    def _take(self, case: Case) -> None:
        try:
            invited = case.resumed and self._is_invited(case)
            if not self._stopping.is_set():
                self._work(case, JurorContext(invited))
            elif not invited:
                # came while it was being stopped: given back at once, so that others needn't wait for its lease to end
                self._cases.release(case)
        except DocketError as error:
            self._on_error(error, case)

    def _is_invited(self, case: Case) -> bool:
        """A claim hands out what the juror is invited to as what they hold already."""
        token = None if case.lease is None else case.lease.token
        return any(one.lease.token == token for one in self._cases.invitations(self._juror))

    def _work(self, case: Case, context: JurorContext) -> None:
        with self._kept(case, context):
            try:
                answer = self._handler(case, context)
            except Exception as error:
                failure: Exception = error
            else:
                if context.loss:
                    raise context.loss
                try:
                    self._vote(case, answer if isinstance(answer, Vote) else Vote(answer))
                    self._failures = 0
                    return
                except UnavailableError as error:
                    if error.is_passing:
                        raise
                    failure = error
                except (HttpError, TypeError, ValueError) as error:
                    failure = error  # it can't be sent, or is not what the court takes
        self._give_back(case, failure, context)

    def _vote(self, case: Case, vote: Vote) -> None:
        """Sends it until a server has taken it, has said no or fails at it: its answer may be lost when all the rest is done."""
        failures = 0
        while True:
            try:
                self._cases.vote(case, vote.option, comment=vote.comment)
                return
            except UnavailableError as error:
                if self._stopping.is_set() or not error.is_passing:
                    raise
                self._on_error(error, case)
            self._stopping.wait(pause_seconds(failures))
            failures += 1

    def _give_back(self, case: Case, failure: Exception, context: JurorContext) -> None:
        if not isinstance(failure, (Decline, Skip)):
            self._on_error(failure, case)
        if context.loss:
            raise context.loss
        if isinstance(failure, Decline) and context.invited:
            self._cases.decline(case)
        elif isinstance(failure, (Decline, Skip)):
            self._cases.release(case, skip=True)
        else:
            self._failures += 1
            try:
                self._cases.release(case)
            finally:
                self._stopping.wait(self._backoff(self._failures))

    def _kept(self, case: Case, context: JurorContext) -> Kept[JurorContext]:
        return Kept(
            context,
            lambda seconds: self._cases.renew(case, timeout=seconds, retry_seconds=RETRY_SECONDS),
            self._answer_length if context.invited else self._length,
            lambda error: self._on_error(error, case),
            at_once=case.resumed,
        )

    def _answer_seconds(self) -> float:
        assign = self._cases.get_court(self._court)["assign"]
        return float(assign["answerSeconds"]) if assign else self._length()
