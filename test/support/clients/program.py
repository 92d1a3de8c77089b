"""Does with the Python client what a test says: program.py consume|produce|calls JSON"""

import dataclasses
import json
import signal
import sys
import time

from docket_client import Bury, Client, Consumer, NewJob, Release

what, asked = sys.argv[1], json.loads(sys.argv[2])
servers = asked["servers"]
client = Client(
    servers,
    api_key=asked.get("apiKey"),
    discover=asked.get("discover", False),
    retry_seconds=asked.get("retrySeconds", 30),
)


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


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


def named(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__.replace("Error", "")
    return None


def calls():
    topic, id, body = asked["job"]["topic"], asked["job"]["id"], asked["job"]["body"]
    mixed = [NewJob(topic, "fine", body), NewJob("-", "bad", body)]
    say(
        added=[client.add(topic, id, body), client.add(topic, id, body)],
        peeked=dataclasses.asdict(client.peek(id=id)),
        next=client.peek(topic=topic).id,
        unknown=client.peek(id="nobody"),
        conflict=named(lambda: client.add(topic, id, "other")),
        invalid=named(lambda: client.add("-", id, body)),
        deleted=[named(lambda: client.delete(of)) for of in (id, id, "nobody")],
        mixed=[result.success for result in client.add_many(mixed)],
        key=named(lambda: Client(servers, api_key="wrong").peek(id=id)),
        down=named(lambda: Client("http://127.0.0.1:1", retry_seconds=0).peek(id=id)),
        missing=named(lambda: client.get("nobody")),
    )


try:
    {"consume": consume, "produce": produce, "calls": calls}[what]()
except Exception as error:
    say(fatal=type(error).__name__.replace("Error", ""), text=str(error))
    sys.exit(3)
