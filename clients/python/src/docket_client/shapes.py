"""Answers as dataclasses."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import Any, Callable, Mapping, TypeVar, cast

T = TypeVar("T")


def shaped(of: Callable[..., T], answer: Mapping[str, Any], **more: Any) -> T:
    """A dataclass of an answer's fields, under the names that Python has for them; what a newer server sends beside
    them is left out.

    ``more``: fields that are not taken from the answer as they are."""
    given = dict(more)
    for field in fields(cast(Any, of)):
        name = camel(field.name)
        if field.name not in more and (name in answer or field.default is MISSING):
            given[field.name] = answer.get(name)
    return of(**given)


def camel(name: str) -> str:
    """``lease_seconds`` as the API writes it."""
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)


def sent(**values: Any) -> Mapping[str, Any]:
    """A body with those of these values that are not None, under the names that the API has for them."""
    return {camel(name): value for name, value in values.items() if value is not None}
