"""A bot that works on the same queue as people do: it decides what is obvious and leaves the rest to them."""

import os
import re
import signal
import sys
from datetime import datetime, timezone

from docket_client import Client, ReviewerLoop, Skip

QUEUE = "forum-reports"
SAMPLES = [
    "Win a free phone now http://win.example",
    "See you at nine, bring the cards",
    "Cheap watches, cheap watches http://watch.example",
    "You played like a potato today",
    "http://win.example http://win.example http://win.example",
    "Does anyone still have a spare ticket?",
]


def judge(text):
    """Whether a message is to be removed; None where a person has to look."""
    if re.search(r"https?:\S+", text):
        return True
    return None if re.search(r"\b(potato|idiot)\b", text, re.I) else False


client = Client(
    os.environ.get("DOCKET_SERVERS", "http://127.0.0.1:3000").split(","),
    api_key=os.environ.get("DOCKET_API_KEY"),
)
client.tickets.put_queue(QUEUE, {"leaseSeconds": 60, "maxHeld": 4})
run = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S%f")
samples = [{"id": f"{run}-{n}", "body": {"text": text}} for n, text in enumerate(SAMPLES)]
added = client.tickets.add_many(QUEUE, samples)
print(f"{len(added)} reports added to {QUEUE}", flush=True)
waiting = {result.id for result in added}


def handler(ticket, context):
    remove = judge(ticket.body["text"])
    who = {None: "a person", True: "remove  ", False: "keep    "}[remove]
    # one write: print() makes several where PYTHONUNBUFFERED is set, and other threads write between them
    sys.stdout.write(f"{who}  {ticket.body['text']}\n")
    sys.stdout.flush()
    waiting.discard(ticket.id)
    if not waiting and "--once" in sys.argv:
        loop.stop()
    # skipped: never offered to the bot again, and to everyone else
    if remove is None:
        raise Skip("not obvious")
    return {"remove": remove}


loop = ReviewerLoop(client, QUEUE, "bot", handler, concurrency=4, wait_seconds=2)
for name in (signal.SIGINT, signal.SIGTERM):
    signal.signal(name, lambda *_: loop.stop())
loop.run()
print(f"the rest waits at /desk/{QUEUE} of the console")
