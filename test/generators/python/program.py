"""Adds, claims and decides a ticket with the client that openapi-python-client has made."""

import json
import sys

from docket_api import AuthenticatedClient
from docket_api.api.tickets import add_ticket, claim_tickets, decide_ticket
from docket_api.models import Claim, ClaimAnswer, Decide, DecideAnswer, NewTicket, Problem, Ticket, TicketState

url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key)

added = add_ticket.sync(
    "reports",
    client=client,
    body=NewTicket(id="report-1", body={"text": "Followers for sale"}, priority=3, requires=["en"]),
)
assert isinstance(added, Ticket), added
assert added.state == TicketState.WAITING, added
assert added.lease is None, added

claimed = claim_tickets.sync("reports", client=client, body=Claim(reviewer="anna", skills=["en"]))
assert isinstance(claimed, ClaimAnswer), claimed
(ticket,) = claimed.tickets
assert ticket.lease is not None and ticket.lease.token is not None, ticket
token = ticket.lease.token

decision = {"verdict": "remove"}
refused = decide_ticket.sync(added.id, client=client, body=Decide(token=f"{token}x", decision=decision))
assert isinstance(refused, Problem), refused

decided = decide_ticket.sync(added.id, client=client, body=Decide(token=token, decision=decision))
assert isinstance(decided, DecideAnswer), decided
assert decided.ticket.decided_by == "anna", decided

print(json.dumps({"id": added.id, "refused": refused.code}))
