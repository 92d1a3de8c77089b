"""Docket's delay queue: add jobs, and work on them."""

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
    UnavailableError,
)

__all__ = [
    "AddResult",
    "AuthError",
    "Bury",
    "Client",
    "Consumer",
    "Context",
    "DocketError",
    "HttpError",
    "Job",
    "LeaseLostError",
    "NewJob",
    "PeekedJob",
    "RefusedError",
    "Release",
    "UnavailableError",
]
