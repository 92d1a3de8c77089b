"""Lists cut into what one call takes."""

from __future__ import annotations

import json
from typing import Any, Iterable, Iterator, List, Mapping

_ENTRIES = 1000
_BYTES = 4 * 1024 * 1024  # half of what the server takes


def batches(entries: Iterable[Mapping[str, Any]], most: int = _ENTRIES) -> Iterator[List[Mapping[str, Any]]]:
    """As many entries together as one call takes, in their order."""
    batch: List[Mapping[str, Any]] = []
    size = 0
    for entry in entries:
        length = len(json.dumps(entry, separators=(",", ":"))) + 1
        if len(batch) == most or (batch and size + length > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += length
    if batch:
        yield batch
