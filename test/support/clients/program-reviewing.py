"""Reviews tickets with the Python client as a test says: program-reviewing.py review|ticketCalls JSON"""

import signal
import time

from docket_client import Release, ReviewerLoop, Skip
from program_common import asked, client, client_of, given, named, raised, refusal, run, say, short_name


def handler(ticket, context):
    say(began=ticket.id, attempt=ticket.attempts, at=time.time())
    body = ticket.body or {}
    if body.get("untilLost"):
        while not context.lost:
            time.sleep(0.05)
        say(lost=ticket.id)
        return {"of": ticket.id}
    time.sleep(body.get("seconds", 0))
    if ticket.attempts <= body.get("failures", 0):
        if body["fail"] == "skip":
            raise Skip("as asked")
        if body["fail"] == "release":
            raise Release(body["delay"])
        raise RuntimeError("as asked")
    say(ended=ticket.id)
    return {"of": ticket.id}


def review():
    def on_error(error, ticket):
        say(error=type(error).__name__, text=str(error), ticket=ticket and ticket.id)

    pause = asked.get("backoffSeconds")
    loop = ReviewerLoop(
        client,
        asked["queue"],
        asked["reviewer"],
        handler,
        wait_seconds=asked.get("waitSeconds", 1),
        on_error=on_error,
        **given(
            skills=asked.get("skills"),
            concurrency=asked.get("concurrency"),
            backoff=None if pause is None else lambda attempt: pause,
        ),
    )
    signal.signal(signal.SIGTERM, lambda *_: loop.stop())
    say(ready=True)
    loop.run()


def ticket_calls():
    queue, tickets = asked["queue"], client.tickets

    def id(n):
        return f"{queue}-{n}"

    settings = tickets.put_queue(queue, {"leaseSeconds": 60, "maxHeld": 3})
    one = {"id": id(1), "body": {"a": [1, "ä", None]}, "priority": 5}
    added = [tickets.add(queue, one), tickets.add(queue, one)]
    unnamed = tickets.add(queue, {"body": "no id"})
    named_ids = [
        {"id": id(2), "body": None, "priority": 4},
        {"id": "not a name", "body": None},
        {"id": id(3), "body": None, "priority": 3},
    ]
    mixed = tickets.add_many(queue, named_ids)

    held = tickets.claim(queue, reviewer="rita", count=2).tickets
    renewed = tickets.renew(held[1])
    decided = tickets.decide(held[0], {"ok": True}, next=True)
    again = tickets.decide(held[0], {"ok": True}, next=True)
    released = tickets.release(held[1], skip=True, reason="not mine")
    lost = raised(lambda: tickets.renew(held[1]))
    closed = raised(lambda: tickets.decide(held[0], {"ok": False}))
    none = tickets.claim(queue, reviewer="rolf", skills=["none"], count=9)
    empty = tickets.claim(f"{queue}-empty", reviewer="rita")

    tickets.change(id(3), {"requires": ["math"], "body": "changed"})
    changed = tickets.reprioritize(id(3), 9)
    moved = tickets.transfer(decided.next, queue=f"{queue}-other", reason="moved")
    resolved = tickets.resolve(id(2), decision="no", reason="known")
    invalidated = tickets.invalidate(unnamed.id, reason="gone")
    tickets.invalidate(unnamed.id, reason="gone")
    opened = raised(lambda: tickets.invalidate(id(1), reason="late"))

    bulk = [{"id": id(f"bulk-{n}"), "body": n} for n in range(1005)]
    bulk_results = tickets.add_many(f"{queue}-bulk", bulk)
    large_results = tickets.add_many(f"{queue}-large", ({"body": "x" * 190_000} for _ in range(45)))
    listed = [*tickets.list(queue=f"{queue}-bulk", state="waiting")]

    say(
        settings=settings["maxHeld"],
        added=[[ticket.id, ticket.body] for ticket in added],
        same=added[0].version == added[1].version,
        unnamed=unnamed.body,
        mixed=[[result.id, result.http_status] for result in mixed],
        held=[[ticket.id, ticket.resumed, ticket.lease.reviewer] for ticket in held],
        renewed=renewed >= held[1].lease.expires_at,
        decided=[decided.ticket.state, decided.ticket.decision, decided.next.id],
        again=again.next.lease.token == decided.next.lease.token,
        released=released.state,
        lost=[short_name(lost), lost.code, lost.reason, lost.holder, lost.ended_at and "string"],
        closed=[short_name(closed), closed.code, closed.state, closed.by, closed.reason],
        none=[[ticket.id for ticket in none.tickets], none.reasons],
        empty=[empty.tickets, empty.reasons["held"], empty.retry_after_seconds > 0],
        changed=[changed.priority, changed.requires, changed.body],
        moved=[moved.queue, moved.state],
        resolved=[resolved.state, resolved.decision, resolved.reason],
        invalidated=[invalidated.state, tickets.get(unnamed.id).invalidation.reason],
        open=[short_name(opened), opened.state],
        events=[event.type for event in tickets.events(id(1))],
        bulk=sum(result.http_status == 201 for result in bulk_results),
        inOrder=[result.id for result in bulk_results] == [ticket["id"] for ticket in bulk],
        large=sum(result.http_status == 201 for result in large_results),
        listed=len({ticket.id for ticket in listed}),
        conflict=refusal(lambda: tickets.add(queue, {**one, "body": "other"})),
        missing=refusal(lambda: tickets.get("nobody")),
        key=named(lambda: client_of(api_key="wrong").tickets.get(id(1))),
        down=named(lambda: client_of("http://127.0.0.1:1", retry_seconds=0).tickets.get(id(1))),
    )


run({"review": review, "ticketCalls": ticket_calls})
