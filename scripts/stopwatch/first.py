import os

from docket_client import Client, ReviewerLoop

client = Client(os.environ["DOCKET_SERVERS"])
client.tickets.add("stopwatch", {"id": "by-python", "body": {"text": "buy now"}})


def handler(ticket, context):
    loop.stop()
    return {"remove": True}


loop = ReviewerLoop(client, "stopwatch", "anna", handler)
loop.run()
print(client.tickets.get("by-python"))
