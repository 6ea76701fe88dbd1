// What @ton/ton and tonweb have sent is found by the hash of its message, as it was signed
// and as TEP-467 writes it: foreseen first, then in blocks, under one id.
const assert = require('node:assert/strict');
const { WalletContractV4, TonClient } = require('@ton/ton');
const { beginCell, Cell, internal, toNano, external, storeMessage } = require('@ton/core');
const { keyPairFromSeed } = require('@ton/crypto');
const TonWeb = require('tonweb');

const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function ask(path) {
  const answer = await fetch(given.base + '/api/v3/' + path, { headers: { 'X-Api-Key': given.key } });
  return { status: answer.status, body: await answer.json() };
}

async function until(what, look) {
  let found;
  for (let i = 0; i < 2400; i++) {
    found = await look();
    if (found) return found;
    await pause(50);
  }
  throw new Error('never: ' + what);
}

// normalised is the hash of a message from outside without what relays may change: no
// source, no import fee, no StateInit, the body in a reference.
function normalised(message) {
  const s = message.beginParse();
  assert.equal(s.loadUint(2), 2);
  s.loadAddressAny();
  const to = s.loadAddress();
  s.loadCoins();
  if (s.loadBit()) {
    if (s.loadBit()) s.loadRef();
    else throw new Error('a StateInit that is not in a reference');
  }
  const body = s.loadBit() ? s.loadRef() : s.asCell();
  return beginCell().storeUint(2, 2).storeUint(0, 2).storeAddress(to).storeCoins(0).storeBit(false).storeBit(true).storeRef(body).endCell().hash();
}

// finds looks a message up that was just sent, until its trace is complete.
async function finds(who, message, sender) {
  const hashes = [message.hash(), normalised(message)];
  const forms = hashes.flatMap((h) => [h.toString('hex'), encodeURIComponent(h.toString('base64'))]);
  let pending = 0;
  const ids = new Set();
  const trace = await until(who + ': its trace', async () => {
    const coming = await ask('pendingTraces?ext_msg_hash=' + forms[0]);
    if (coming.status === 200) pending += coming.body.traces.length;
    const { body } = await ask('traces?msg_hash=' + forms[0]);
    for (const t of body.traces) ids.add(t.trace_id);
    return body.traces.length === 1 && body.traces[0].trace_info.trace_state === 'complete' ? body.traces[0] : null;
  });
  assert.ok(pending > 0, who + ': it was never to come');
  assert.deepEqual([...ids], [trace.trace_id], who + ': one id throughout');
  assert.equal(trace.external_hash, hashes[0].toString('base64'));
  for (const form of forms) {
    const traces = (await ask('traces?msg_hash=' + form)).body.traces;
    assert.equal(traces.length, 1, `${who}: traces of ${form}`);
    assert.equal(traces[0].trace_id, trace.trace_id);
    const found = (await ask('transactionsByMessage?direction=in&msg_hash=' + form)).body.transactions;
    assert.equal(found.length, 1, `${who}: transactions of ${form}`);
    assert.equal(found[0].account.toUpperCase(), sender.toUpperCase());
    assert.equal(found[0].trace_external_hash, trace.external_hash);
    const messages = (await ask('messages?msg_hash=' + form)).body.messages;
    assert.equal(messages.length, 1, `${who}: messages of ${form}`);
    assert.equal(messages[0].hash, hashes[0].toString('base64'));
    const actions = (await ask('actions?limit=10&tx_hash=' + encodeURIComponent(found[0].hash))).body.actions;
    assert.ok(actions.some((a) => a.type === 'ton_transfer' && a.success), `${who}: actions ${JSON.stringify(actions)}`);
  }
  const left = await ask('pendingTraces?ext_msg_hash=' + forms[2]);
  assert.ok(left.status === 404 || left.body.traces.length === 0, who + ': it is still to come');
}

async function main() {
  const client = new TonClient({ endpoint: given.base + '/api/v2/jsonRPC', apiKey: given.key });
  const key = keyPairFromSeed(Buffer.from(given.secret, 'hex'));
  const contract = WalletContractV4.create({ workchain: 0, publicKey: key.publicKey });
  const wallet = client.open(contract);
  const seqno = await wallet.getSeqno();
  const body = contract.createTransfer({
    seqno, secretKey: key.secretKey, sendMode: 1, messages: [internal({ to: given.receiver, value: toNano('0.1'), bounce: false, body: 'from TonClient' })],
  });
  const message = beginCell().store(storeMessage(external({ to: contract.address, body }))).endCell();
  await client.sendFile(message.toBoc());
  await finds('@ton/ton', message, contract.address.toRawString());
  await until('the next seqno', async () => (await wallet.getSeqno()) === seqno + 1);

  const tonweb = new TonWeb(new TonWeb.HttpProvider(given.base + '/api/v2/jsonRPC', { apiKey: given.key }));
  const mine = new tonweb.wallet.all.v4R2(tonweb.provider, { publicKey: key.publicKey, wc: 0 });
  const transfer = mine.methods.transfer({
    secretKey: key.secretKey, toAddress: given.receiver, amount: TonWeb.utils.toNano('0.1'), seqno: seqno + 1, payload: 'from tonweb', sendMode: 1,
  });
  const query = await transfer.getQuery();
  const boc = Buffer.from(await query.toBoc(false));
  await tonweb.provider.sendBoc(boc.toString('base64'));
  await finds('tonweb', Cell.fromBoc(boc)[0], contract.address.toRawString());
  console.log('found');
}

main().catch((e) => {
  console.error(e.response ? JSON.stringify(e.response.data) : '', e);
  process.exit(1);
});
