"""Does with the Python client what a test asks for, a line of JSON each on standard input: driver.ts says how."""

import dataclasses
import json
import pathlib
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce

import docket_client as docket
import httpx

printing = threading.Lock()
answers = []


def say(**line):
    with printing:
        print(json.dumps(line), flush=True)


def short_name(error):
    return type(error).__name__.replace("Error", "")


def snake(named):
    """Names as Python writes them."""
    return {re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name): value for name, value in named.items()}


def plain(value):
    """What JSON can say, with names as JSON writes them."""
    if dataclasses.is_dataclass(value):
        return camel({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def camel(named):
    return {re.sub("_(.)", lambda letter: letter[1].upper(), name): plain(value) for name, value in named.items()}


def client_of(asked):
    return docket.Client(**snake(asked["client"]))


def step(value, name):
    """From an answer to a part of it."""
    return getattr(value, *snake({name: None})) if dataclasses.is_dataclass(value) else value[name]


def argument(arg):
    return reduce(step, arg["$answer"], answers) if isinstance(arg, dict) and "$answer" in arg else arg


def new_jobs(jobs):
    return [docket.NewJob(**{"ttr" if name == "TTR" else name: value for name, value in job.items()}) for job in jobs]


def call(asked):
    names = [*snake(dict.fromkeys(asked["call"].split(".")))]
    args = [argument(arg) for arg in asked["args"]]
    if names == ["add_many"]:
        args = [new_jobs(args[0])]
    try:
        method = receive if names == ["receive"] else reduce(getattr, names, client_of(asked))
        value = method(*args, **snake(asked.get("named", {})))
        answers.append([*value] if isinstance(value, Iterator) else value)
        say(answer=plain(answers[-1]))
    except Exception as error:
        answers.append(None)
        say(failed={**camel(vars(error)), "error": short_name(error)})


def begun(key):
    """How often the handler of something has been begun, this time too, by whatever process."""
    with open(f"{key.encode().hex()}.begun", "a") as file:
        file.write(".")
        return file.tell()


def handler_of(loop, person):
    """Does what the item's body says."""

    def handler(item, context=None):
        def of(*names):
            return next((getattr(item, name) for name in names if hasattr(item, name)), None)

        id, attempt = of("id", "task_id"), of("attempts", "attempt")
        plan = of("body", "value", "params") or {}
        fail = plan.get("fail")
        said = {"logId": of("log_id"), "redo": of("redo"), "invited": getattr(context, "invited", None)}
        say(began=id, attempt=attempt, at=time.time(), **said)
        answer = {"of": id, "empty": {}}
        if loop == "JurorLoop":
            answer = docket.Vote(plan.get("option", "buyer"), plan.get("comment"))
        if plan.get("untilLost"):
            while not context.lost:
                time.sleep(0.05)
            say(lost=id)
            return answer
        is_failing = (attempt or begun(f"{person} {id}")) <= plan.get("failures", 0)
        if is_failing or not fail:
            time.sleep(plan.get("seconds", 0))
        if is_failing and fail in ("skip", "decline", "bury"):
            raise {"skip": docket.Skip, "decline": docket.Decline, "bury": docket.Bury}[fail](plan.get("text", "as asked"))
        if is_failing and fail == "release":
            raise docket.Release(plan["delay"])
        if is_failing and fail == "error":
            raise RuntimeError("as asked")
        if is_failing and fail in ("unsayable", "large"):
            return object() if fail == "unsayable" else "x" * 300_000
        say(ended=id)
        return answer

    return handler


def loop(asked):
    def on_error(error, item):
        say(error=type(error).__name__, text=str(error), item=item and getattr(item, "id", None) or item and item.task_id)

    options = snake(asked["options"])
    if "backoff_seconds" in options:
        seconds = options.pop("backoff_seconds")
        options["backoff"] = lambda failures: seconds
    handler = handler_of(asked["run"], options.get("uid") or options.get("juror"))
    made = getattr(docket, asked["run"])(client_of(asked), handler=handler, on_error=on_error, **options)
    signal.signal(signal.SIGTERM, lambda *_: made.stop())
    say(ready=True)
    made.run()


def read(events):
    with events:
        signal.signal(signal.SIGTERM, lambda *_: events.close())
        for event in events:
            say(event=plain(event))


def stream(asked):
    options = snake(asked["options"])
    if "ticket_key" in options:
        # as a page gets tickets from its own backend, which has the key
        headers = {"authorization": f"Bearer {options.pop('ticket_key')}"}
        url = f"{asked['client']['servers'][0]}/v1/stream-tickets"
        options["ticket"] = lambda: httpx.post(url, headers=headers).json()["ticket"]
    read(client_of(asked).stream(**options))


class VersionsInFile:
    """Versions that outlive the program."""

    def __init__(self, file):
        self.file = pathlib.Path(file)

    def last(self, key):
        return json.loads(self.file.read_text()).get(key) if self.file.exists() else None

    def keep(self, key, version):
        self.file.write_text(json.dumps({key: version}))


def receive(headers, body, secret, times=1, failures=0, store=None):
    """Receives a callback, so many times at once. Returns the outcomes."""
    given = {"versions": VersionsInFile(store)} if store else {}

    def handle(callback):
        say(began=callback.key)
        time.sleep(0.5 if times > 1 else 0)
        if begun(callback.key) <= failures:
            raise RuntimeError("as asked")
        message = callback.message
        whole = message["type"] == callback.type and message[callback.kind] is callback.item
        say(handled={**plain(callback), "whole": whole})

    def once(_):
        return docket.receive(headers=headers, body=body.encode(), secret=secret, handle=handle, **given)

    with ThreadPoolExecutor(times) as pool:
        return [*pool.map(once, range(times))]


RUNS = {"stream": stream, "feed": lambda asked: read(client_of(asked).feed(**asked["options"]))}

try:
    for line in sys.stdin:
        asked = json.loads(line)
        if "call" in asked:
            call(asked)
        else:
            RUNS.get(asked["run"], loop)(asked)
except Exception as error:
    say(fatal=short_name(error), text=str(error))
    sys.exit(3)
