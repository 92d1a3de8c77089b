"""One worker's day with greenstalk. Prints what it saw, numbers of jobs aside."""
import json
import sys

import greenstalk

port = int(sys.argv[1])
seen = []
with greenstalk.Client(("127.0.0.1", port), use="greenstalk", watch="greenstalk") as client:
    client.put("Grüße", priority=10, ttr=60)
    job = client.reserve(timeout=5)
    seen.append(job.body)
    client.touch(job)
    client.release(job, priority=5, delay=0)
    stats = client.stats_job(job)
    seen.append([stats[key] for key in ("tube", "state", "pri", "ttr", "reserves", "releases")])
    job = client.reserve(timeout=5)
    client.bury(job, priority=7)
    seen.append([client.peek_buried().body, client.kick(10)])
    client.delete(client.reserve(timeout=5))
    client.put("later", delay=1)
    seen.append(client.peek_delayed().body)
    job = client.reserve(timeout=5)
    seen.append(job.body)
    client.delete(job)
    try:
        client.delete(job)
    except greenstalk.NotFoundError:
        seen.append("not found")
    try:
        client.reserve(timeout=0)
    except greenstalk.TimedOutError:
        seen.append("timed out")
    stats = client.stats_tube("greenstalk")
    seen.append([stats[key] for key in ("name", "total-jobs", "cmd-delete", "current-using", "current-watching")])
    seen.append(["greenstalk" in client.tubes(), client.using(), client.watching()])
    client.pause_tube("greenstalk", 0)
with greenstalk.Client(("127.0.0.1", port), encoding=None) as client:
    client.put(bytes(range(256)))
    job = client.reserve(timeout=5)
    seen.append(list(job.body) == list(range(256)))
    client.delete(job)
print(json.dumps(seen))
