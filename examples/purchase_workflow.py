"""A workflow that waits for a person: it asks for an approval, and goes on when somebody has decided."""

import asyncio
import os
import sys
import time

from nexusrpc import Operation, service
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import Worker

CONSOLE = os.environ.get("DOCKET_SERVERS", "http://127.0.0.1:3000").split(",")[0]


@service(name="docket")
class Docket:
    ticket: Operation[dict, dict]


@workflow.defn
class Purchase:
    @workflow.run
    async def run(self, endpoint: str, order: str, amount: int) -> str:
        docket = workflow.create_nexus_client(service=Docket, endpoint=endpoint)
        asked = {"queue": "approvals", "id": order, "body": {"order": order, "amount": amount}}
        # here it waits: for seconds or for weeks
        outcome = await docket.execute_operation(Docket.ticket, asked)
        if outcome["decision"] == {"approve": True}:
            return f"{order} is paid, approved by {outcome['decidedBy']}"
        return f"{order} is not paid: {outcome['state']}, {outcome['decision']}"


async def main() -> None:
    order = sys.argv[1] if len(sys.argv) > 1 else f"order-{time.time_ns()}"
    address = os.environ.get("TEMPORAL_ADDRESS", "127.0.0.1:7233")
    client = await Client.connect(address, namespace=os.environ.get("TEMPORAL_NAMESPACE", "default"))
    async with Worker(client, task_queue="purchases", workflows=[Purchase]):
        print(f"{order} waits at {CONSOLE}/desk/approvals", flush=True)
        args = [os.environ.get("DOCKET_ENDPOINT", "docket"), order, 900]
        print(await client.execute_workflow(Purchase.run, args=args, id=order, task_queue="purchases"))


if __name__ == "__main__":
    asyncio.run(main())
