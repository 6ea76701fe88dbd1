"""PyPI toncenter: its two clients of streams, on a devnet that is indexed. A payment is
pending, then final, with one hash; what a stream tells is what the index says."""
import asyncio
import json
import sys

from toncenter.rest import ToncenterRestClient
from toncenter.rest.v3 import models
from toncenter.streaming import ToncenterSSE, ToncenterWebSocket
from toncenter.types import Network

given = json.load(sys.stdin)


class Seen:
    """What one client was told of the payment."""

    def __init__(self, client):
        self.client, self.name = client, type(client).__name__
        self.finalities = {"transactions": [], "actions": [], "trace": []}
        self.hashes, self.states, self.jettons, self.others = set(), [], [], []
        self.done = asyncio.Event()
        client.on_transactions(self.transactions, min_finality="pending")
        client.on_actions(self.actions)
        client.on_traces(self.trace)
        client.on_account_states(self.state)
        client.on_jettons(lambda n: self.jettons.append(n))
        client.on_trace_invalidated(lambda n: self.others.append(n))

    def mine(self, n):
        return n.trace_external_hash_norm == given["norm"]

    def transactions(self, n):
        if not self.mine(n):
            return
        self.finalities["transactions"].append(n.finality)
        lts = [int(t["lt"]) for t in n.transactions]
        assert lts == sorted(lts, reverse=True), lts
        if n.finality == "finalized":
            self.hashes = {t["hash"] for t in n.transactions}
        assert n.address_book and given["raw_wallet"] in n.address_book, n.address_book
        self.check()

    def actions(self, n):
        if self.mine(n):
            assert [a["type"] for a in n.actions] == ["ton_transfer"], n.actions
            self.finalities["actions"].append(n.finality)
            self.check()

    def trace(self, n):
        assert self.mine(n) and n.trace["tx_hash"] in n.transactions and n.metadata is not None, n
        self.finalities["trace"].append(n.finality)
        self.check()

    def state(self, n):
        assert n.finality == "finalized" and n.account in (given["raw_wallet"], given["raw_receiver"]) and n.state.balance.isdigit(), n
        self.states.append(n)
        self.check()

    def check(self):
        if all(list(f)[-1:] == ["finalized"] for f in self.finalities.values()) and len(self.hashes) == 2 and self.states:
            self.done.set()

    async def run(self):
        await self.client.start(addresses=[given["wallet"], given["receiver"]], trace_external_hash_norms=[given["norm"]],
                                include_address_book=True, include_metadata=True)


async def main():
    both = [Seen(make(given["key"], Network.MAINNET, base_url=given["base"])) for make in (ToncenterSSE, ToncenterWebSocket)]
    running = [asyncio.create_task(s.run()) for s in both]
    for s in both:
        await s.client.wait_subscribed(60)
    c = ToncenterRestClient(api_key=given["key"], base_url=given["base"], retry_policy=None)
    await c.create_session()
    try:
        sent = await c.v3.api_v2.send_message(models.V2SendMessageRequest(boc=given["message"]))
        assert (sent.message_hash_norm or sent.message_hash) == given["norm"], (sent, given["norm"])
        for s in both:
            try:
                await asyncio.wait_for(s.done.wait(), 60)
            except asyncio.TimeoutError:
                raise AssertionError(f"{s.name}: {s.finalities}, {s.hashes}, {len(s.states)} states") from None
            order = ["pending", "confirmed", "finalized"]
            for kind, finalities in s.finalities.items():
                ranks = [order.index(f) for f in finalities]
                assert ranks == sorted(ranks), (s.name, kind, finalities)
            assert s.finalities["transactions"][0] == "pending", (s.name, s.finalities)
            assert not s.others, (s.name, s.others)
        assert both[0].hashes == both[1].hashes
        trace = (await c.v3.actions.get_traces(msg_hash=[given["norm"]])).traces[0]
        assert set(trace.transactions) == both[0].hashes, (trace.transactions.keys(), both[0].hashes)
        socket = both[1].client
        await socket.dynamic_subscribe(addresses=[given["receiver"]], types=["account_state_change"])
        await socket.dynamic_unsubscribe(addresses=[given["receiver"]])
        print(", ".join(f"{s.name}: {s.finalities}" for s in both))
    finally:
        for s in both:
            await s.client.stop()
        await asyncio.gather(*running, return_exceptions=True)
        await c.close_session()


asyncio.run(main())
