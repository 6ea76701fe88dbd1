"""PyPI toncenter: every method of the v2 layer, whose models are strict, and the
v3 endpoints that stand for v2 methods."""
import asyncio
import base64
import json
import sys

from toncenter.rest import ToncenterRestClient

given = json.load(sys.stdin)
MASTER = dict(workchain=-1, shard="-9223372036854775808")


async def read(v2):
    info = await v2.blocks.get_masterchain_info()
    seqno = info.last.seqno
    await v2.blocks.get_masterchain_block_signatures(seqno)
    await v2.blocks.get_consensus_block()
    shards = await v2.blocks.get_shards(seqno)
    for block in shards.shards:
        place = dict(workchain=block.workchain, shard=block.shard)
        found = await v2.blocks.lookup_block(**place, seqno=block.seqno)
        assert found.root_hash == block.root_hash
        header = await v2.blocks.get_block_header(**place, seqno=block.seqno)
        assert (await v2.blocks.lookup_block(**place, lt=header.end_lt)).seqno == block.seqno
        await v2.blocks.get_shard_block_proof(**place, seqno=block.seqno)
        await v2.transactions.get_block_transactions(**place, seqno=block.seqno, count=5)
        await v2.transactions.get_block_transactions_ext(**place, seqno=block.seqno, count=5)
    await v2.blocks.get_shard_block_proof(**MASTER, seqno=1, from_seqno=seqno)
    await v2.blocks.get_block_header(**MASTER, seqno=1)
    await v2.blocks.get_out_msg_queue_size()
    await v2.configuration.get_config_all()
    await v2.configuration.get_config_param(20)
    await v2.configuration.get_libraries([info.last.root_hash])
    await v2.utils.detect_address(given["wallet"])
    await v2.utils.detect_hash(info.last.root_hash)
    raw = await v2.utils.unpack_address(given["wallet"])
    assert await v2.utils.pack_address(raw) == given["wallet"]
    return seqno


async def accounts(v2, seqno):
    for address in (given["wallet"], given["jetton"], "0:" + "00" * 32):
        await v2.accounts.get_address_information(address)
        await v2.accounts.get_extended_address_information(address, seqno=seqno)
        await v2.accounts.get_wallet_information(address)
        await v2.accounts.get_address_balance(address)
        await v2.accounts.get_address_state(address)
    await v2.accounts.get_token_data(given["jetton"])
    await v2.accounts.get_token_data(given["collection"])
    history = await v2.transactions.get_transactions(given["sender"], limit=20)
    assert history
    std = await v2.transactions.get_transactions_std(given["sender"], limit=20)
    assert [t.transaction_id.hash for t in std.transactions] == [t.transaction_id.hash for t in history]
    run = await v2.runmethod.run_get_method(given["wallet"], "seqno")
    assert run.exit_code == 0
    std = await v2.runmethod.run_get_method_std(given["wallet"], "seqno")
    assert std.exit_code == 0
    located = 0
    for t in history:
        for m in t.out_msgs:
            if m.destination and located < 2:
                found = await v2.transactions.try_locate_source_tx(m.source, m.destination, m.created_lt)
                assert found.transaction_id.hash == t.transaction_id.hash
                await v2.transactions.try_locate_tx(m.source, m.destination, m.created_lt)
                await v2.transactions.try_locate_result_tx(m.source, m.destination, m.created_lt)
                located += 1
    answer = await v2.rpc.json_rpc("getAddressBalance", params={"address": given["wallet"]})
    assert answer
    return located


async def send(v2, v3):
    fees = await v2.send.estimate_fee(given["wallet"], given["body"], ignore_chksig=False)
    assert fees.source_fees.gas_fee > 0
    sent = await v2.send.send_boc_return_hash(given["message"])
    assert base64.b64decode(sent.hash)
    while (await v2.runmethod.run_get_method(given["wallet"], "seqno")).stack[0][1] == "0x0":
        await asyncio.sleep(0.2)
    for use in (True, False):
        state = await v3.api_v2.get_address_information(given["wallet"], use_v2=use)
        assert state.status == "active"
        wallet = await v3.api_v2.get_wallet_information(given["wallet"], use_v2=use)
        assert wallet.seqno == 1 and wallet.wallet_type == "wallet v4 r2", wallet


async def main():
    c = ToncenterRestClient(api_key="k", base_url=given["base"], retry_policy=None)
    await c.create_session()
    try:
        seqno = await read(c.v2)
        await send(c.v2, c.v3)
        print(await accounts(c.v2, seqno), "messages located")
    finally:
        await c.close_session()


asyncio.run(main())
