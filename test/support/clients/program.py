"""Does with the Python client what a test says: program.py consume|produce|calls|pull|taskCalls JSON"""

import dataclasses
import signal
import time

from docket_client import Bury, Client, Consumer, NewJob, Puller, Release
from program_common import asked, client, named, raised, refusal, run, say, servers


def handler(job, context):
    say(began=job.id, attempt=job.attempt, at=time.time())
    if job.value.get("untilLost"):
        while not context.lost:
            time.sleep(0.05)
        return say(lost=job.id)
    time.sleep(job.value.get("seconds", 0))
    if job.attempt <= job.value.get("failures", 0):
        if job.value["fail"] == "bury":
            raise Bury("as asked")
        if job.value["fail"] == "release":
            raise Release(job.value["delay"])
        raise RuntimeError("as asked")
    say(ended=job.id)


def consume():
    def on_error(error, job):
        say(error=type(error).__name__, text=str(error), job=job and job.id)

    options = {"concurrency": asked.get("concurrency", 1), "wait": asked.get("waitSeconds", 2), "on_error": on_error}
    consumer = Consumer(client, asked["topics"], handler, **options)
    signal.signal(signal.SIGTERM, lambda *_: consumer.stop())
    say(ready=True)
    consumer.run()


def produce():
    ttr = asked.get("TTR", 60)
    jobs = (NewJob(asked["topic"], f"{asked['prefix']}{n}", asked["value"], ttr=ttr) for n in range(asked["count"]))
    say(added=sum(result.success for result in client.add_many(jobs)))


def calls():
    topic, id, body = asked["job"]["topic"], asked["job"]["id"], asked["job"]["body"]
    mixed = [NewJob(topic, "fine", body), NewJob("..", "bad", body)]
    say(
        added=[client.add(topic, id, body), client.add(topic, id, body)],
        peeked=dataclasses.asdict(client.peek(id=id)),
        next=client.peek(topic=topic).id,
        got=client.get(id)["id"],
        unknown=client.peek(id="nobody"),
        conflict=named(lambda: client.add(topic, id, "other")),
        invalid=named(lambda: client.add("..", id, body)),
        deleted=[named(lambda: client.delete(of)) for of in (id, id, "nobody")],
        mixed=[result.success for result in client.add_many(mixed)],
        key=named(lambda: Client(servers, api_key="wrong").peek(id=id)),
        down=named(lambda: Client("http://127.0.0.1:1", retry_seconds=0).peek(id=id)),
        missing=named(lambda: client.get("nobody")),
    )


def begun(task_id):
    """How often a task's handler has been begun, this time too, by whatever process."""
    with open(f"{task_id}.begun", "a") as file:
        file.write(".")
        return file.tell()


def pulled(dispatch):
    say(began=dispatch.task_id, logId=dispatch.log_id, redo=dispatch.redo, at=time.time())
    params = dispatch.params
    fail = params.get("fail")
    failing = begun(dispatch.task_id) <= params.get("failures", 0)
    if failing or not fail:
        time.sleep(params.get("seconds", 0))
    if failing and fail == "error":
        raise RuntimeError("as asked")
    if failing and fail == "unsayable":
        return object()
    if failing and fail == "large":
        return "x" * 300_000
    say(ended=dispatch.task_id)
    return {"of": dispatch.task_id, "empty": {}}


def pull():
    def on_error(error, dispatch):
        say(error=type(error).__name__, text=str(error), task=dispatch and dispatch.task_id)

    options = {"exclude": asked.get("exclude", ()), "wait": asked.get("waitSeconds", 2), "on_error": on_error}
    if "stuckAfter" in asked:
        options["stuck_after"] = asked["stuckAfter"]
    if "backoffSeconds" in asked:
        options["backoff"] = lambda failures: asked["backoffSeconds"]
    puller = Puller(client, asked["uid"], pulled, **options)
    signal.signal(signal.SIGTERM, lambda *_: puller.stop())
    say(ready=True)
    puller.run()


def task_calls():
    uid, template, task, later = asked["uid"], asked["template"], asked["task"], asked["later"]
    client.add_template(template["id"], template["params"])
    client.add_template(template["id"], template["params"])
    client.put_group(asked["gid"], [uid])
    ids = [client.add_task(of["id"], of)["id"] for of in (task, task, later)]
    first = client.next(uid).dispatch
    again = client.next(uid).dispatch
    stale = raised(lambda: client.complete(uid, "lt_other"))
    completed_at = client.complete(uid, first.log_id, {"done": [1, "ä", None]})
    last = client.next(uid, [later["id"]], 0.2)
    say(
        ids=ids,
        first={"taskId": first.task_id, "params": first.params, "redo": first.redo},
        same=again.log_id == first.log_id and again.occurrence == first.occurrence,
        redo=again.redo,
        stale=type(stale).__name__.replace("Error", ""),
        current=stale.current == first.log_id,
        repeated=client.complete(uid, first.log_id, {"done": [1, "ä", None]}) == completed_at,
        settled=refusal(lambda: client.complete(uid, first.log_id, "other")),
        last={"dispatch": last.dispatch, "nextAt": last.next_at, "reasons": last.reasons},
        conflict=refusal(lambda: client.add_task(task["id"], {**task, "dispatchTimes": 9})),
        mismatch=refusal(lambda: client.add_task("mismatch", {**task, "params": {"address": 1}})),
        key=refusal(lambda: Client(servers, api_key="wrong").next(uid)),
        down=refusal(lambda: Client("http://127.0.0.1:1", retry_seconds=0).next(uid)),
    )


run({"consume": consume, "produce": produce, "calls": calls, "pull": pull, "taskCalls": task_calls})
