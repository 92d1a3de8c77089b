"""One worker's day with pystalk, which has no touch. Prints what it saw, numbers of jobs aside."""
import json
import sys

from pystalk import BeanstalkClient, BeanstalkError

client = BeanstalkClient("127.0.0.1", int(sys.argv[1]))
seen = []
client.use("pystalk")
client.watch("pystalk")
client.put_job("hello", pri=10, ttr=60)
job = client.reserve_job(timeout=5)
seen.append(job.job_data.decode())
client.release_job(job.job_id, pri=5)
stats = client.stats_job(job.job_id)
seen.append([stats[key] for key in ("tube", "state", "pri", "ttr", "reserves", "releases")])
job = client.reserve_job(timeout=5)
client.bury_job(job.job_id)
seen.append(client.peek_buried().job_data.decode())
client.kick_jobs(10)
client.delete_job(client.reserve_job(timeout=5).job_id)
client.put_job_into("pystalk", "later", delay=1)
job = client.reserve_job(timeout=5)
seen.append(job.job_data.decode())
client.delete_job(job.job_id)
try:
    client.delete_job(job.job_id)
except BeanstalkError as error:
    seen.append(error.message)
try:
    client.reserve_job(timeout=0)
except BeanstalkError as error:
    seen.append(error.message)
stats = client.stats_tube("pystalk")
seen.append([stats[key] for key in ("name", "total-jobs", "cmd-delete", "current-using", "current-watching")])
seen.append(["pystalk" in client.list_tubes(), "cmd-put" in client.stats()])
client.close()
print(json.dumps(seen))
