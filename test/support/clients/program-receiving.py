"""Receives callbacks with the Python client as a test says: program-receiving.py receive JSON"""

import json
import pathlib
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import docket_client
from docket_client import SignatureError
from program_common import asked, given, run, say

# how often handling has failed, by key
failures = {}
printing = threading.Lock()


class VersionsInFile:
    """Versions that outlive the program."""

    def __init__(self, file):
        self.file = pathlib.Path(file)

    def kept(self):
        return json.loads(self.file.read_text()) if self.file.exists() else {}

    def last(self, key):
        return self.kept().get(key)

    def keep(self, key, version):
        self.file.write_text(json.dumps({**self.kept(), key: version}))


def print_line(**line):
    with printing:
        say(**line)


def handle(callback):
    print_line(began=callback.key)
    time.sleep(asked.get("seconds", 0))
    failed = failures.get(callback.key, 0)
    if failed < asked.get("failures", 0):
        failures[callback.key] = failed + 1
        raise RuntimeError("as asked")
    message = callback.message
    handled = {"id": callback.id, "type": callback.type, "version": callback.version, "kind": callback.kind}
    whole = message["type"] == callback.type and message[callback.kind] is callback.item
    print_line(handled={**handled, "itemId": callback.item_id, "key": callback.key, "whole": whole})


versions = given(versions=asked.get("store") and VersionsInFile(asked["store"]))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            outcome = docket_client.receive(
                headers=self.headers, body=body, secret=asked["secret"], handle=handle, **versions
            )
            self.answer(200, {"outcome": outcome})
        except Exception as error:
            self.answer(401 if isinstance(error, SignatureError) else 500, {"error": type(error).__name__})

    def answer(self, status, told):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    # fifty come at once
    request_queue_size = 100


def receive():
    server = Server(("127.0.0.1", 0), Receiver)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print_line(url=f"http://127.0.0.1:{server.server_port}")
    server.serve_forever()


run({"receive": receive})
