"""A worker of somebody else in Python, whose workflow asks Docket by Nexus and waits."""

import asyncio
import os

from nexusrpc import Operation, service
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import Worker


@service(name="docket")
class Docket:
    ticket: Operation[dict, dict]
    case: Operation[dict, dict]
    job: Operation[dict, dict]


@workflow.defn(name="ask")
class Ask:
    @workflow.run
    async def run(self, endpoint: str, operation: str, asked: dict) -> dict:
        docket = workflow.create_nexus_client(service=Docket, endpoint=endpoint)
        return await docket.execute_operation(getattr(Docket, operation), asked)


async def main() -> None:
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"], namespace=os.environ["TEMPORAL_NAMESPACE"])
    async with Worker(client, task_queue="python", workflows=[Ask]):
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
