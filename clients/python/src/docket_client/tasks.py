"""Tasks as they are handed out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional


@dataclass(frozen=True)
class Dispatch:
    """A task's occurrence as it is handed out to one user.

    ``log_id`` is what a completion quotes. ``occurrence`` is its scheduled time, which names it among the task's
    occurrences. ``redo``: it was handed out before, and not completed: perhaps some of it is done."""

    log_id: str
    task_id: str
    occurrence: str
    start_time: str
    params: Dict[str, Any]
    redo: bool


@dataclass(frozen=True)
class NextDispatch:
    """``next_at``: when there will be something, as far as that is known; ``reasons``: counts of what is not for the
    user."""

    dispatch: Optional[Dispatch]
    next_at: Optional[str]
    reasons: Optional[Dict[str, int]]


def next_dispatch(answer: Mapping[str, Any]) -> NextDispatch:
    task = answer["task"]
    if task is None:
        return NextDispatch(None, answer["nextAt"], answer["reasons"])
    dispatch = Dispatch(
        answer["logId"], task["id"], task["occurrence"], task["startTime"], task["params"], answer["redo"]
    )
    return NextDispatch(dispatch, None, None)
