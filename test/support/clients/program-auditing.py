"""Keeps reviews with the Python client as a test says: program-auditing.py reviewCalls|audit JSON"""

from program_common import asked, client, refusal, run, say


def review_calls():
    prefix, reviews = asked["prefix"], client.reviews
    id = f"{prefix}-review"
    pictures = [{"id": f"{prefix}-picture-{n}", "status": 0} for n in (1, 2)]
    put = reviews.put(id, {"text": {"status": 0}, "pictures": pictures, "body": {"a": [1, "ä", None]}})
    text = reviews.callback(id, kind="text", status=5, wait_seconds=10)
    expired = reviews.callback(id, kind="text", status=4, audit_time="2020-01-01T00:00:00.000Z", wait_seconds=10)
    own = {"kind": "picture", "target_id": pictures[0]["id"], "status": 6, "callback_id": "mine", "wait_seconds": 10}
    applied, duplicate = reviews.callback(id, **own), reviews.callback(id, **own)
    picture = reviews.picture_callback(pictures[1]["id"], status=7, wait_seconds=10)
    for n in range(100):
        reviews.callback(id, kind="text", status=n)
    last = reviews.callback(id, kind="text", status=100, wait_seconds=10)
    edited = reviews.put(id, {"text": {"status": 1}, "pictures": pictures[1:]})
    log = [*reviews.log(id)]
    say(
        put=[put.id, put.status, put.body],
        text=[text.outcome, len(text.callback_id) > 0],
        expired=expired.outcome,
        applied=applied.outcome,
        duplicate=[duplicate.outcome, duplicate.first_outcome],
        picture=picture.outcome,
        last=last.outcome,
        edited=[edited.status, [one.status for one in edited.pictures]],
        got=reviews.get(id).version == edited.version,
        log=[len(log), log[-1].kind, len({line.seq for line in log})],
        missing=refusal(lambda: reviews.callback("nobody", kind="text", status=1)),
        invalid=refusal(lambda: reviews.callback(id, kind="picture", status=1)),
    )


def audit():
    outcomes = [
        client.reviews.callback(asked["review"], kind="text", status=n + 1, wait_seconds=10).outcome
        for n in range(asked["count"])
    ]
    say(outcomes=outcomes)


run({"reviewCalls": review_calls, "audit": audit})
