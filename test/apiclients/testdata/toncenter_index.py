"""PyPI toncenter: every method of the v3 layer, on a devnet that is indexed. Its models
take whatever is null: what must be there is looked at."""
import asyncio
import json
import sys

from toncenter.exceptions import ToncenterError
from toncenter.rest import ToncenterRestClient
from toncenter.rest.v3 import models

given = json.load(sys.stdin)
asked = set()


class Watched:
    """The resources of a layer; remembers which methods were called."""

    def __init__(self, resource):
        self._resource = resource

    def __getattr__(self, name):
        method = getattr(self._resource, name)
        asked.add(name)
        return method


async def until(ask, enough, what):
    for _ in range(1200):
        found = await ask()
        if enough(found):
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"{what}: {found}")


async def tokens(v3):
    jetton = given["jetton"]
    master = (await until(lambda: v3.jettons.get_jetton_masters(address=[jetton]), lambda a: a.jetton_masters, "jetton")).jetton_masters[0]
    wallets = await v3.jettons.get_jetton_wallets(jetton_address=[jetton], sort="desc", limit=5)
    assert wallets.jetton_wallets and all(w.jetton == master.address for w in wallets.jetton_wallets)
    transfers = await until(lambda: v3.jettons.get_jetton_transfers(limit=20), lambda a: a.jetton_transfers, "jetton transfers")
    for t in transfers.jetton_transfers:
        assert t.trace_id and t.transaction_hash and int(t.amount) >= 0, t
    await v3.jettons.get_jetton_burns(limit=20)
    collection = await until(lambda: v3.nfts.get_nft_collections(collection_address=[given["collection"]]), lambda a: a.nft_collections, "collection")
    assert collection.nft_collections[0].address
    items = await until(lambda: v3.nfts.get_nft_items(limit=10), lambda a: a.nft_items, "items")
    await v3.nfts.get_nft_sales([items.nft_items[0].address])
    await v3.nfts.get_nft_transfers(limit=10)
    await v3.dns.get_dns_records(domain="nobody.ton")
    await v3.multisig.get_multisig_wallets(limit=5)
    # The client wants body_raw of parsed actions to be a list of numbers, as the published
    # schema has it; it is base64 everywhere.
    await v3.multisig.get_multisig_orders(limit=5, parse_actions=False)
    await v3.vesting.get_vesting_contracts(limit=5)
    states = await v3.accounts.get_account_states([given["wallet"], jetton], include_boc=True)
    assert len(states.accounts) == 2 and all(a.code_boc for a in states.accounts)
    assert (await v3.accounts.get_wallet_states([given["wallet"]])).wallets[0].is_wallet
    assert (await v3.accounts.get_address_book([given["wallet"]]))
    assert (await v3.accounts.get_metadata([jetton]))
    assert await v3.stats.get_top_accounts_by_balance(limit=5)


async def chain(v3):
    info = await v3.blockchain.get_masterchain_info()
    seqno = info.last.seqno
    assert (await v3.blockchain.get_blocks(limit=5)).blocks
    assert (await v3.blockchain.get_masterchain_block_shard_state(seqno)).blocks
    assert (await v3.blockchain.get_masterchain_block_shards(seqno)).blocks
    assert (await v3.blockchain.get_transactions_by_masterchain_block(seqno)).transactions
    listed = (await v3.blockchain.get_transactions(limit=100)).transactions
    for t in listed:
        assert t.trace_id and t.finality == "finalized" and not t.emulated, t
        assert t.in_msg is None or t.trace_external_hash, t
    messages = (await v3.blockchain.get_messages(limit=20)).messages
    assert messages
    assert (await v3.blockchain.get_transactions_by_message(msg_hash=[messages[0].hash])).transactions
    parent = next(t for t in listed if t.in_msg and t.in_msg.source and t.account.startswith("0:"))
    adjacent = await v3.blockchain.get_adjacent_transactions(hash=parent.hash)
    assert {t.trace_id for t in adjacent.transactions} == {parent.trace_id}
    names = await v3.utils.get_decode(opcodes=["0x0f8a7ea5"])
    assert names.opcodes == ["jetton_transfer"], names
    decoded = await v3.utils.post_decode(models.DecodeRequest(opcodes=["0x5fcc3d14"], bodies=[given["body"]]))
    assert decoded.opcodes == ["nft_transfer"], decoded
    run = await v3.api_v2.run_get_method(models.V2RunGetMethodRequest(address=given["wallet"], method="seqno", stack=[]))
    assert run.exit_code == 0
    await v3.api_v2.get_address_information(given["wallet"])
    await v3.api_v2.get_wallet_information(given["wallet"])
    fee = await v3.api_v2.estimate_fee(models.V2EstimateFeeRequest(address=given["wallet"], body=given["body"], ignore_chksig=False))
    assert fee.source_fees.gas_fee > 0


async def payment(v3):
    """A payment is pending, then there, with one hash throughout."""
    sent = await v3.api_v2.send_message(models.V2SendMessageRequest(boc=given["message"]))
    seen, norm = 0, sent.message_hash_norm or sent.message_hash
    done = []
    for _ in range(6000):
        pending = (await v3.actions.get_pending_traces(ext_msg_hash=[norm])).traces or []
        for t in pending:
            assert t.external_hash == sent.message_hash, (t.external_hash, sent)
            seen += 1
        if pending and seen == len(pending):
            foreseen = await v3.actions.get_pending_actions(ext_msg_hash=[sent.message_hash])
            assert [a.type for a in foreseen.actions] == ["ton_transfer"], foreseen.actions
            try:
                rows = await v3.blockchain.get_pending_transactions(account=[given["receiver"]])
                assert all(t.emulated and t.finality == "pending" for t in rows.transactions)
            except ToncenterError as e:
                assert "emulated traces not found" in str(e), e  # it has come meanwhile
        done = (await v3.actions.get_traces(msg_hash=[sent.message_hash], include_actions=True)).traces or []
        if done and done[0].trace_info.pending_messages == 0:
            break
        await asyncio.sleep(0.02)
    assert seen and len(done) == 1, (seen, done)
    trace = done[0]
    assert trace.external_hash == sent.message_hash and trace.trace_info.trace_state == "complete" and len(trace.transactions) == 2
    assert [a.type for a in trace.actions] == ["ton_transfer"]
    details = trace.actions[0].details
    assert details["value"] == "100000000" and trace.actions[0].success, details
    for account in (given["wallet"], given["receiver"]):
        found = await v3.actions.get_actions(account=account, limit=1)
        assert found.actions[0].action_id == trace.actions[0].action_id
        assert found.actions[0].trace_external_hash == sent.message_hash
    assert (await v3.actions.get_traces(trace_id=[trace.trace_id])).traces[0].trace_id == trace.trace_id
    return seen


async def main():
    c = ToncenterRestClient(api_key=given["key"], base_url=given["base"], retry_policy=None)
    await c.create_session()
    try:
        layer, all_methods = type("Layer", (), {})(), set()
        for group in ("accounts", "actions", "api_v2", "blockchain", "dns", "jettons", "multisig", "nfts", "stats", "utils", "vesting"):
            resource = getattr(c.v3, group)
            all_methods |= {n for n in dir(resource) if not n.startswith("_") and asyncio.iscoroutinefunction(getattr(resource, n))}
            setattr(layer, group, Watched(resource))
        await tokens(layer)
        await chain(layer)
        seen = await payment(layer)
        assert asked == all_methods, all_methods ^ asked
        print(len(asked), "methods; the payment was seen pending", seen, "times")
    finally:
        await c.close_session()


asyncio.run(main())
