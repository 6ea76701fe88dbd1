// Reads a devnet with ton-lite-client: argument 1 is the task of clients_test.go.
const assert = require('assert');
const fs = require('fs');
const { LiteClient, LiteSingleEngine } = require('ton-lite-client');
const { Address, Cell, TupleReader, parseTuple, serializeTuple } = require('@ton/core');

const task = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));

async function main() {
  const server = task.config.liteservers[0];
  const ip = [24, 16, 8, 0].map(bits => (server.ip >>> bits) & 255).join('.');
  const engine = new LiteSingleEngine({ host: `tcp://${ip}:${server.port}`, publicKey: Buffer.from(server.id.key, 'base64') });
  await new Promise(ready => engine.once('ready', ready));
  const client = new LiteClient({ engine });

  const info = await client.getMasterchainInfo();
  assert(info.last.seqno >= task.mc_seqno);
  assert.strictEqual((await client.getMasterchainInfoExt()).init.rootHash.toString('base64'), task.config.validator.zero_state.root_hash);
  assert(await client.getCurrentTime() > 0);
  assert(await client.getVersion());

  const found = await client.lookupBlockByID({ workchain: -1, shard: '-9223372036854775808', seqno: task.mc_seqno });
  const block = found.id;
  assert.strictEqual(block.seqno, task.mc_seqno);
  await client.getBlockHeader(block);
  const shards = await client.getAllShardsInfo(block);
  assert.strictEqual(Object.keys(shards.shards['0']).length, 2);

  const wallet = Address.parseRaw(task.wallet);
  const account = await client.getAccountState(wallet, block);
  assert.strictEqual(account.balance.coins.toString(), task.balance);
  assert.strictEqual(account.lastTx.lt.toString(), task.last_lt);
  assert.strictEqual(account.lastTx.hash.toString(16).padStart(64, '0'), task.last_hash);
  assert.strictEqual((await client.getAccountState(Address.parseRaw(task.absent), block)).state, null);
  const pruned = await client.getAccountStatePrunned(wallet, block);
  assert(pruned.stateHash.equals(Cell.fromBoc(account.raw)[0].hash()));

  const result = await client.runMethod(wallet, 'seqno', serializeTuple([]).toBoc(), block);
  assert.strictEqual(result.exitCode, 0);
  const stack = new TupleReader(parseTuple(Cell.fromBase64(result.result)));
  assert.strictEqual(stack.readNumber(), task.seqno);

  const list = await client.getAccountTransactions(wallet, task.last_lt, Buffer.from(task.last_hash, 'hex'), 10);
  const transactions = Cell.fromBoc(list.transactions);
  assert.strictEqual(transactions.length, list.ids.length);
  assert(transactions.length >= 4, `transactions: got ${transactions.length}, want two sent and two received`);
  assert.strictEqual(transactions[0].hash().toString('hex'), task.last_hash);
  const one = await client.getAccountTransaction(wallet, task.last_lt, list.ids[0]);
  assert.strictEqual(Cell.fromBoc(one.transaction)[0].hash().toString('hex'), task.last_hash);

  const full = await client.getFullBlock(task.mc_seqno);
  assert(full.shards.length >= 2);
  assert((await client.getConfig(block)).config);
  const libraries = await client.getLibraries([Buffer.alloc(32, 1)]);
  assert.strictEqual(libraries.result.length, 0);

  assert.strictEqual((await client.sendMessage(Buffer.from(task.message, 'base64'))).status, 1);
  await assert.rejects(client.sendMessage(Buffer.from('garbage')));
  for (;;) {
    const { last } = await client.getMasterchainInfo();
    const again = await client.runMethod(wallet, 'seqno', serializeTuple([]).toBoc(), last);
    if (new TupleReader(parseTuple(Cell.fromBase64(again.result))).readNumber() === task.seqno + 1) break;
    await new Promise(later => setTimeout(later, 50));
  }
  engine.close();
  console.log(`ton-lite-client: ${transactions.length} transactions, ${full.shards.length} blocks of bundle ${task.mc_seqno}`);
  process.exit(0);
}

main().catch(problem => { console.error(problem); process.exit(1); });
