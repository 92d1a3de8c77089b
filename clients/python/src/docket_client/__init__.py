"""Docket's client: jobs, tasks, tickets, cases, reviews, their events and their callbacks."""

from .callbacks import Callback, MemoryVersions, Versions, receive
from .cases import Case, CaseLease, Cases, ClaimedCase, CountedVote, Invitation
from .client import AddResult, Client, Job, NewJob, PeekedJob
from .consumer import Consumer
from .errors import (
    AuthError,
    Bury,
    Decline,
    DocketError,
    HttpError,
    LeaseLostError,
    NotOpenError,
    RefusedError,
    Release,
    SignatureError,
    Skip,
    StaleLogIdError,
    StuckError,
    UnavailableError,
)
from .following import Feed, FeedEvent, Stream, StreamEvent
from .items import BatchResult, Event
from .juror_loop import JurorContext, JurorLoop, Vote
from .leases import Context
from .puller import Puller
from .reviewer_loop import ReviewerLoop
from .reviews import Audited, CallbackOutcome, LogLine, Review, Reviews, Target
from .tasks import Dispatch, NextDispatch
from .tickets import ClaimedTickets, Decided, Draft, Invalidation, Lease, Suggestion, Ticket, Tickets
from .transport import Cut, Line

__all__ = [
    "AddResult",
    "Audited",
    "AuthError",
    "BatchResult",
    "Bury",
    "Callback",
    "CallbackOutcome",
    "Case",
    "CaseLease",
    "Cases",
    "ClaimedCase",
    "ClaimedTickets",
    "Client",
    "Consumer",
    "Context",
    "CountedVote",
    "Cut",
    "Decided",
    "Decline",
    "Dispatch",
    "DocketError",
    "Draft",
    "Event",
    "Feed",
    "FeedEvent",
    "HttpError",
    "Invalidation",
    "Invitation",
    "Job",
    "JurorContext",
    "JurorLoop",
    "Lease",
    "LeaseLostError",
    "Line",
    "LogLine",
    "MemoryVersions",
    "NewJob",
    "NextDispatch",
    "NotOpenError",
    "PeekedJob",
    "Puller",
    "RefusedError",
    "Release",
    "Review",
    "ReviewerLoop",
    "Reviews",
    "SignatureError",
    "Skip",
    "StaleLogIdError",
    "Stream",
    "StreamEvent",
    "StuckError",
    "Suggestion",
    "Target",
    "Ticket",
    "Tickets",
    "UnavailableError",
    "Versions",
    "Vote",
    "receive",
]
