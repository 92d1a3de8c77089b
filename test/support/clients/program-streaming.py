"""Reads events with the Python client as a test says: program-streaming.py stream|feed JSON"""

import dataclasses
import signal

import httpx
from program_common import asked, client, run, say, servers


def ticket():
    """As a page gets tickets from its own backend, which has the key."""
    headers = {"authorization": f"Bearer {asked['ticketKey']}"}
    return httpx.post(f"{servers[0]}/v1/stream-tickets", headers=headers).json()["ticket"]


def stream():
    of = {name: asked[name] for name in ("reviewer", "queue", "juror") if name in asked}
    own = ticket if "ticketKey" in asked else None
    with client.stream(**of, last_event_id=asked.get("lastEventId"), ticket=own) as events:
        signal.signal(signal.SIGTERM, lambda *_: events.close())
        for event in events:
            say(event=dataclasses.asdict(event))


def feed():
    with client.feed(after=asked["after"], follow=asked["follow"]) as events:
        signal.signal(signal.SIGTERM, lambda *_: events.close())
        for event in events:
            fields = dataclasses.asdict(event)
            say(seq=event.seq, event={**fields, "itemId": fields.pop("item_id")})


run({"stream": stream, "feed": feed})
