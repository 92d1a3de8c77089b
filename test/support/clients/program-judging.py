"""Judges cases with the Python client as a test says: program-judging.py judge|caseCalls JSON"""

import signal
import time

from docket_client import Decline, JurorLoop, Skip, Vote
from program_common import asked, client, given, raised, refusal, run, say, short_name

# how often the handler has failed, by case
failures = {}


def handler(case, context):
    say(began=case.id, invited=context.invited, at=time.time())
    body = case.body or {}
    if body.get("untilLost"):
        while not context.lost:
            time.sleep(0.05)
        say(lost=case.id)
        return "buyer"
    time.sleep(body.get("seconds", 0))
    failed = failures.get(case.id, 0)
    if failed < body.get("failures", 0):
        failures[case.id] = failed + 1
        if body["fail"] == "skip":
            raise Skip("as asked")
        if body["fail"] == "decline":
            raise Decline("as asked")
        raise RuntimeError("as asked")
    say(ended=case.id)
    option = body.get("option") or asked.get("option") or "buyer"
    return Vote(option, body["comment"]) if "comment" in body else option


def judge():
    def on_error(error, case):
        say(error=type(error).__name__, text=str(error), case=case and case.id)

    pause = asked.get("backoffSeconds")
    loop = JurorLoop(
        client,
        asked["court"],
        asked["juror"],
        handler,
        pause_seconds=asked.get("pauseSeconds", 0.3),
        on_error=on_error,
        **given(backoff=None if pause is None else lambda failures: pause),
    )
    signal.signal(signal.SIGTERM, lambda *_: loop.stop())
    say(ready=True)
    loop.run()


def case_calls():
    court, cases = asked["court"], client.cases

    def id(n):
        return f"{court}-{n}"

    settings = cases.put_court(court, {"votesToWin": 2, "overbook": 1, "leaseSeconds": 60})
    upserted = cases.put_jurors(court, ["ada", {"id": "bob", "person": "robert"}])
    names = [f"j{n}" for n in range(20_500)]
    replaced = cases.put_jurors(court, [*names, "ada", "bob", "party"], list="today")

    one = {"id": id(1), "parties": [{"id": "party"}], "body": {"a": [1, "ä", None]}}
    added = [cases.add(court, one), cases.add(court, one)]
    unnamed = cases.add(court, {"body": "no id"})
    cases.invalidate(unnamed.id, reason="gone")
    invalidated = cases.invalidate(unnamed.id, reason="gone")

    party = cases.claim(court, "party")
    held = cases.claim(court, "ada").case
    resumed = cases.claim(court, "ada").case
    renewed = cases.renew(held)
    released = cases.release(held)
    lost = raised(lambda: cases.renew(held))
    anew = cases.claim(court, "ada").case
    first = cases.vote(anew, "buyer", comment="clear")
    repeated = cases.vote(anew, "buyer", comment="clear")
    twice = cases.claim(court, "ada")
    last = cases.claim(court, "bob").case
    late = cases.claim(court, "j1").case
    declined = refusal(lambda: cases.decline(last))
    decided = cases.vote(last, "buyer")
    closed = raised(lambda: cases.vote(late, "seller"))

    many = cases.add_many(court, [{"id": id(2), "body": None}, {"id": "not a name", "body": None}, {"body": 3}])
    skipped = cases.claim(court, "j2").case
    cases.release(skipped, skip=True)
    again = cases.claim(court, "j2").case

    say(
        settings=settings["votesToWin"],
        totals=[upserted, replaced],
        added=[[case.id, case.body] for case in added],
        same=added[0].version == added[1].version,
        invalidated=[invalidated.state, invalidated.end_reason],
        party=[party.case, party.reasons["party"]],
        held=[held.id, held.resumed, resumed.resumed, resumed.lease.token == held.lease.token],
        renewed=renewed >= held.lease.expires_at,
        released=released.state,
        lost=[short_name(lost), lost.code, lost.reason],
        first=[first.counted, first.case.state, first.case.tally],
        repeated=repeated.counted,
        twice=[twice.case, twice.reasons["voted"]],
        decided=[decided.counted, decided.case.state, decided.case.winner],
        late=[short_name(closed), closed.code, closed.state],
        declined=declined,
        many=[["string" if isinstance(result.id, str) else None, result.http_status] for result in many],
        skipped=again is None or again.id != skipped.id,
        got=cases.get(id(1)).winner,
        invitations=[*cases.invitations("ada")],
        missing=refusal(lambda: cases.get("nobody")),
        option=refusal(lambda: cases.vote(skipped, "nobody")),
        noCourt=refusal(lambda: cases.add(f"{court}-none", {"body": None})),
    )


run({"judge": judge, "caseCalls": case_calls})
