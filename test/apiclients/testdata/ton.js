// @ton/ton's TonClient, whose schemas refuse answers of another form.
const assert = require('node:assert/strict');
const { TonClient, WalletContractV4, JettonMaster, JettonWallet, loadConfigParamsAsSlice, parseFullConfig } = require('@ton/ton');
const { Address, beginCell, Cell, internal, toNano, TupleBuilder, external, storeMessage, comment } = require('@ton/core');
const { keyPairFromSeed } = require('@ton/crypto');

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what, look) {
  for (let i = 0; i < 600; i++) {
    const found = await look();
    if (found) return found;
    await pause(200);
  }
  throw new Error('never: ' + what);
}

async function main() {
  const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  const client = new TonClient({ endpoint: given.base + '/api/v2/jsonRPC' });
  const key = keyPairFromSeed(Buffer.from(given.secret, 'hex'));
  const contract = WalletContractV4.create({ workchain: 0, publicKey: key.publicKey });
  assert.equal(contract.address.toString(), Address.parse(given.wallet).toString());
  const wallet = client.open(contract);
  const receiver = Address.parse(given.receiver);

  // The client refuses shard blocks of more than 40 transactions, of which a young
  // devnet has some.
  const shards = await until('shard blocks fit into one page', async () => {
    const info = await client.getMasterchainInfo();
    assert.ok(info.latestSeqno > 0);
    const shards = await client.getWorkchainShards(info.latestSeqno);
    assert.ok(shards.length > 0);
    try {
      for (const shard of shards) {
        await client.getShardTransactions(shard.workchain, shard.seqno, shard.shard);
      }
    } catch (e) {
      if (e.message !== 'Unsupported') throw e;
      return null;
    }
    return shards;
  });

  const whole = await (await fetch(given.base + '/api/v2/getConfigAll')).json();
  const config = parseFullConfig(loadConfigParamsAsSlice(whole.result.config.bytes));
  assert.equal(config.burningConfig.feeBurnNominator, 0);
  assert.equal(config.burningConfig.feeBurnDenominator, 1);
  assert.equal(config.msgPrices.workchain.lumpPrice, 400000n);

  await until('the wallet has its jettons', async () => {
    try {
      const own = await client.open(JettonMaster.create(Address.parse(given.jetton))).getWalletAddress(contract.address);
      return (await client.open(JettonWallet.create(own)).getBalance()) > 0n;
    } catch (e) {
      return false;
    }
  });
  const before = await client.getBalance(contract.address);
  assert.ok(before > toNano(1));
  assert.ok(await client.isContractDeployed(contract.address));
  const state = await client.getContractState(contract.address);
  assert.equal(state.state, 'active');

  // A transfer, its fee estimated before.
  const seqno = await wallet.getSeqno();
  const body = contract.createTransfer({
    seqno, secretKey: key.secretKey, sendMode: 1, messages: [internal({ to: receiver, value: toNano('0.5'), bounce: false, body: 'from TonClient' })],
  });
  const fees = await client.estimateExternalMessageFee(contract.address, { body, initCode: null, initData: null, ignoreSignature: false });
  assert.ok(fees.source_fees.gas_fee > 0);
  const receiverBefore = await client.getBalance(receiver);
  await client.sendExternalMessage(contract, body);
  await until('the transfer is in a block', async () => (await wallet.getSeqno()) === seqno + 1);
  const tx = await until('the transfer is listed', async () => {
    const [newest] = await client.getTransactions(contract.address, { limit: 1 });
    return newest && newest.inMessage && newest.inMessage.body.hash().equals(body.hash()) ? newest : null;
  });
  assert.equal(tx.outMessages.get(0).info.value.coins, toNano('0.5'));
  await until('the money arrives', async () => (await client.getBalance(receiver)) > receiverBefore);

  // The receiver's transaction, found from the sender's.
  const sent = tx.outMessages.get(0).info;
  const result = await client.tryLocateResultTx(contract.address, receiver, sent.createdLt.toString());
  assert.equal(result.inMessage.info.createdLt, sent.createdLt);
  const source = await client.tryLocateSourceTx(contract.address, receiver, sent.createdLt.toString());
  assert.equal(source.hash().toString('hex'), tx.hash().toString('hex'));

  // A jetton transfer.
  const jetton = client.open(JettonMaster.create(Address.parse(given.jetton)));
  const own = await jetton.getWalletAddress(contract.address);
  const theirs = client.open(JettonWallet.create(await jetton.getWalletAddress(receiver)));
  const had = await theirs.getBalance();
  const transfer = beginCell().storeUint(0x0f8a7ea5, 32).storeUint(1, 64).storeCoins(3).storeAddress(receiver).storeAddress(contract.address)
    .storeBit(false).storeCoins(1).storeBit(false).endCell();
  const order = contract.createTransfer({
    seqno: seqno + 1, secretKey: key.secretKey, sendMode: 1, messages: [internal({ to: own, value: toNano('0.2'), body: transfer })],
  });
  await client.sendFile(beginCell().store(storeMessage(external({ to: contract.address, body: order }))).endCell().toBoc());
  await until('the jettons arrive', async () => (await theirs.getBalance()) === had + 3n);

  // All transactions to the first one, and one by itself.
  const all = [];
  let cursor = {};
  for (;;) {
    const page = await client.getTransactions(contract.address, { limit: 2, archival: true, ...cursor });
    all.push(...page);
    if (page.length === 0 || page[page.length - 1].prevTransactionLt === 0n) break;
    const last = page[page.length - 1];
    cursor = { lt: last.lt.toString(), hash: last.hash().toString('base64') };
  }
  assert.ok(all.length >= 2);
  assert.equal(new Set(all.map((t) => t.lt)).size, all.length);
  const single = await client.getTransaction(contract.address, all[0].lt.toString(), all[0].hash().toString('base64'));
  assert.equal(single.lt, all[0].lt);

  // Get-methods with arguments, and one that is not there.
  const arguments_ = new TupleBuilder();
  arguments_.writeAddress(receiver);
  const run = await client.runMethod(Address.parse(given.jetton), 'get_wallet_address', arguments_.build());
  assert.ok(run.gas_used > 0);
  assert.equal(run.stack.readAddress().toString(), theirs.address.toString());
  await assert.rejects(client.runMethod(contract.address, 'no_such_method'), /exit_code: 11/);
  const number = new TupleBuilder();
  number.writeNumber(1);
  const item = await client.runMethod(Address.parse(given.collection), 'get_nft_address_by_index', number.build());
  const nft = await client.runMethod(item.stack.readAddress(), 'get_nft_data');
  assert.ok(nft.stack.readBoolean());

  // A refused message is an error with the contract's exit code.
  await assert.rejects(client.sendExternalMessage(contract, body), (e) => /exitcode=33/.test(JSON.stringify(e.response && e.response.data)));
  console.log(`${all.length} transactions of the wallet, ${shards.length} shards`);
}

main().catch((e) => {
  console.error(e.response ? JSON.stringify(e.response.data) : '', e);
  process.exit(1);
});
