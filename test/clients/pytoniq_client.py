"""Reads a devnet with pytoniq, which trusts nothing but the config's first block:
argument 1 is the task of clients_test.go."""
import asyncio
import base64
import json
import sys

from pytoniq import LiteClient
from pytoniq.liteclient.client import LiteServerError, RunGetMethodError
from pytoniq_core import Address, BlockIdExt

task = json.load(open(sys.argv[1]))
WHOLE = -(1 << 63)


async def main():
    client = LiteClient.from_config(task['config'], 0, trust_level=0, timeout=60)
    await client.connect()
    await client.get_masterchain_info_ext()
    await client.get_time()
    await client.get_version()

    block, _ = await client.lookup_block(-1, WHOLE, seqno=task['mc_seqno'])
    assert block.seqno == task['mc_seqno']
    await client.get_mc_block_proof(client.last_mc_block, block)
    await client.raw_get_block_header(block)
    parsed = await client.raw_get_block(block)
    for when in ({'lt': parsed.info.end_lt}, {'utime': parsed.info.gen_utime}):
        found, _ = await client.lookup_block(-1, WHOLE, **when)
        assert found.seqno <= block.seqno, (when, found)
    await client.get_state(-1, WHOLE, block.seqno, block.root_hash, block.file_hash)

    shards = await client.get_all_shards_info(block)
    assert len(shards) == 2, shards
    await client.raw_get_shard_info(block, 0, shards[0].shard, exact=True)
    count = 0
    for shard in shards:
        # Every block that the bundle commits for the first time, proven to be in it.
        for seqno in (shard.seqno, shard.seqno - 1):
            found, _ = await client.lookup_block(0, shard.shard, seqno=seqno)
            await client.get_shard_block_proof(found, prove_mc=True)
            await client.raw_get_block(found)
            short = await client.raw_get_block_transactions(found)
            full = await client.raw_get_block_transactions_ext(found)
            assert [t['hash'] for t in short] == [t.cell.hash for t in full]
            count += len(full)
    assert count > 0

    wallet = Address(task['wallet'])
    account, shard_account = await client.raw_get_account_state(wallet, block)
    assert str(account.storage.balance.grams) == task['balance']
    assert shard_account.last_trans_hash.hex() == task['last_hash']
    assert await client.raw_get_account_state(task['absent'], block) == (None, None)

    assert await client.run_get_method(wallet, 'seqno', [], block) == [task['seqno']]
    try:
        await client.run_get_method(wallet, 'no_such_method', [], block)
        raise AssertionError('no_such_method ran')
    except RunGetMethodError as problem:
        assert problem.exit_code == 11, problem.exit_code

    last = int(task['last_lt']), bytes.fromhex(task['last_hash'])
    history, ids = await client.raw_get_transactions(wallet, 10, *last)
    assert len(history) >= 4, len(history)
    one = await client.get_one_transaction(wallet, last[0], ids[0])
    assert one.cell.hash == last[1]

    config = await client.get_config_all(block)
    assert 34 in config
    assert set(await client.get_config_params([15, 34], block)) >= {15, 34}
    assert await client.get_libraries([b'\1' * 32]) == {(b'\1' * 32).hex(): None}
    sizes = await client.get_out_msg_queue_sizes()
    assert len(sizes['shards']) == 3, sizes

    try:
        await client.lookup_block(-1, WHOLE, seqno=1 << 30)
        raise AssertionError('a block of the future was found')
    except LiteServerError as problem:
        assert problem.code == 651, problem.code

    assert await client.raw_send_message(base64.b64decode(task['message'])) == 1
    while await client.run_get_method(wallet, 'seqno', []) != [task['seqno'] + 1]:
        head = client.last_mc_block.seqno
        await client.wait_masterchain_seqno(head + 1, 60000, 'getMasterchainInfo', {})
        await client.update_last_blocks()
    print(f'pytoniq: {count} transactions proven, {len(history)} of the wallet')
    await client.close()


asyncio.run(asyncio.wait_for(main(), 300))
