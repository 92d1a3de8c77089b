"""Docket's delay queue and its tasks: add jobs and tasks, and work on them."""

from .client import AddResult, Client, Job, NewJob, PeekedJob
from .consumer import Consumer, Context
from .errors import (
    AuthError,
    Bury,
    DocketError,
    HttpError,
    LeaseLostError,
    RefusedError,
    Release,
    StaleLogIdError,
    StuckError,
    UnavailableError,
)
from .puller import Puller
from .tasks import Dispatch, NextDispatch
from .transport import Cut, Line

__all__ = [
    "AddResult",
    "AuthError",
    "Bury",
    "Client",
    "Consumer",
    "Context",
    "Cut",
    "Dispatch",
    "DocketError",
    "HttpError",
    "Job",
    "LeaseLostError",
    "Line",
    "NewJob",
    "NextDispatch",
    "PeekedJob",
    "Puller",
    "RefusedError",
    "Release",
    "StaleLogIdError",
    "StuckError",
    "UnavailableError",
]
