"""Uses the Python client as it was installed: installed.py URL"""

import json
import sys
from pathlib import Path

import docket_client
from docket_client import Client, Ticket


def decide(client: Client, ticket: Ticket) -> str:
    return client.tickets.decide(ticket, {"ok": True}).ticket.state


def main() -> None:
    with Client(sys.argv[1]) as client:
        client.tickets.add("installed", {"id": "installed-1", "body": None})
        claimed = client.tickets.claim("installed", reviewer="ada").tickets
        states = [decide(client, ticket) for ticket in claimed]
    folder = Path(docket_client.__file__).parent
    print(json.dumps({"states": states, "folder": str(folder), "typed": (folder / "py.typed").exists()}))


main()
