"""PyPI toncenter: its two clients of streams follow two wallets and print what they are
told of messages from outside, a line of JSON each."""
import asyncio
import json
import sys

from toncenter.streaming import ToncenterSSE, ToncenterWebSocket
from toncenter.types import Network

given = json.loads(sys.stdin.readline())


def told(client, kind, n, **more):
    print(json.dumps({"client": type(client).__name__, "kind": kind, "norm": n.trace_external_hash_norm, **more}), flush=True)


async def follow(make):
    client = make(given["key"], Network.MAINNET, base_url=given["base"])

    def transactions(n):
        told(client, "transactions", n, finality=n.finality, transactions=[
            {"hash": t["hash"], "account": t["account"], "sent": len(t["out_msgs"])} for t in n.transactions])

    client.on_transactions(transactions, min_finality="pending")
    client.on_trace_invalidated(lambda n: told(client, "invalidated", n))
    running = asyncio.create_task(client.start(addresses=given["addresses"]))
    await client.wait_subscribed(60)
    print(json.dumps({"client": type(client).__name__, "kind": "subscribed"}), flush=True)
    await running


async def main():
    await asyncio.gather(*(follow(make) for make in (ToncenterSSE, ToncenterWebSocket)))


asyncio.run(main())
