"""A model beside people: it says of each comment whether it is offensive, and how sure it is.

The classifier is that of the package alt-profanity-check, a linear SVM that comes with its weights and needs no network.
"""

import os
import signal
import sys
from datetime import datetime, timezone

from docket_client import Client
from profanity_check import predict_prob

QUEUE = "comments"
MODEL = "profanity-1"
SAMPLES = [
    "See you at nine, bring the cards",
    "You are a stupid fucking idiot",
    "Does anyone still have a spare ticket?",
    "Shut up, you piece of shit",
    "What an awful move, you clown",
]

client = Client(
    os.environ.get("DOCKET_SERVERS", "http://127.0.0.1:3000").split(","),
    api_key=os.environ.get("DOCKET_API_KEY"),
)
client.tickets.put_queue(QUEUE, {"assist": {"mode": "auto", "minConfidence": 0.9, "share": 0.1}})
run = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S%f")
added = client.tickets.add_many(QUEUE, [{"id": f"{run}-{n}", "body": {"text": text}} for n, text in enumerate(SAMPLES)])
print(f"{len(added)} comments added to {QUEUE}", flush=True)

running = True


def stop(*_):
    global running
    running = False


for name in (signal.SIGINT, signal.SIGTERM):
    signal.signal(name, stop)

while running:
    tickets = client.tickets.unsuggested(QUEUE, model=MODEL, wait_seconds=2)
    if not tickets and "--once" in sys.argv:
        break
    if not tickets:
        continue
    for ticket, offensive in zip(tickets, predict_prob([ticket.body["text"] for ticket in tickets])):
        remove, confidence = bool(offensive > 0.5), float(max(offensive, 1 - offensive))
        client.tickets.suggest(ticket.id, model=MODEL, decision={"remove": remove}, confidence=confidence)
        print(f"{'remove' if remove else 'keep'} {confidence:.2f}  {ticket.body['text']}", flush=True)

print(f"the rest waits at /desk/{QUEUE} of the console")
