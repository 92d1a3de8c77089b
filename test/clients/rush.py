"""Receives one callback many times at once, by the function of the README: rush.py MODULE TIMES"""

import importlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

from standardwebhooks import Webhook

module, times = importlib.import_module(sys.argv[1]), int(sys.argv[2])
body = json.dumps({"type": "ticket.decided", "version": 5, "ticket": {"id": "rush-1"}})
now = datetime.now(timezone.utc)
headers = {
    "webhook-id": "msg_rush",
    "webhook-timestamp": str(int(now.timestamp())),
    "webhook-signature": Webhook(os.environ["DOCKET_CALLBACK_SECRET"]).sign("msg_rush", now, body),
}
with ThreadPoolExecutor(times) as pool:
    print(json.dumps([*pool.map(lambda _: module.received(headers, body.encode()), range(times))]))
