// tonweb's provider, wallet and jetton classes.
const assert = require('node:assert/strict');
const TonWeb = require('tonweb');

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
  const tonweb = new TonWeb(new TonWeb.HttpProvider(given.base + '/api/v2/jsonRPC'));
  const provider = tonweb.provider;
  const key = TonWeb.utils.keyPairFromSeed(TonWeb.utils.hexToBytes(given.secret));
  const Wallet = tonweb.wallet.all.v4R2;
  const wallet = new Wallet(provider, { publicKey: key.publicKey, wc: 0 });
  const address = await wallet.getAddress();
  assert.equal(address.toString(true, true, true), given.wallet);
  const name = address.toString(true, true, true);

  const info = await provider.getMasterchainInfo();
  assert.equal(info['@type'], 'blocks.masterchainInfo');
  const shards = (await provider.getBlockShards(info.last.seqno)).shards;
  assert.ok(shards.length > 0);
  await provider.getBlockHeader(-1, '-9223372036854775808', info.last.seqno);
  await provider.getBlockTransactions(-1, '-9223372036854775808', info.last.seqno);
  const config = await provider.getConfigParam(15);
  assert.ok(config);

  assert.ok(BigInt(await tonweb.getBalance(name)) > 0n);
  const known = await provider.getWalletInfo(name);
  assert.equal(known.wallet, true);
  assert.equal(known.wallet_type, 'wallet v4 r2');
  const extended = await provider.getExtendedAddressInfo(name);
  assert.equal(extended.account_state['@type'], 'wallet.v4.accountState');

  const before = BigInt(await tonweb.getBalance(given.receiver));
  const seqno = (await wallet.methods.seqno().call()) || 0;
  const transfer = wallet.methods.transfer({
    secretKey: key.secretKey, toAddress: given.receiver, amount: TonWeb.utils.toNano('0.3'), seqno, payload: 'from tonweb', sendMode: 1,
  });
  const fees = await transfer.estimateFee();
  assert.equal(fees['@type'], 'query.fees');
  const sent = await transfer.send();
  assert.equal(sent['@type'], 'ok');
  await until('the transfer is in a block', async () => (await wallet.methods.seqno().call()) === seqno + 1);
  await until('the money arrives', async () => BigInt(await tonweb.getBalance(given.receiver)) > before);
  const [newest] = await until('the transfer is listed', async () => {
    const list = await tonweb.getTransactions(name, 5);
    return list.length > 0 && list[0].out_msgs.length > 0 ? list : null;
  });
  assert.equal(newest.out_msgs[0].message, 'from tonweb');

  const minter = new TonWeb.token.jetton.JettonMinter(provider, { address: given.jetton });
  await until('the jetton is there', async () => {
    try {
      const data = await minter.getJettonData();
      return data.totalSupply.gtn(0);
    } catch (e) {
      return false;
    }
  });
  const own = new TonWeb.token.jetton.JettonWallet(provider, { address: await minter.getJettonWalletAddress(address) });
  const theirs = new TonWeb.token.jetton.JettonWallet(provider, { address: await minter.getJettonWalletAddress(new TonWeb.Address(given.receiver)) });
  await until('the wallet has jettons', async () => {
    try {
      return (await own.getData()).balance.gtn(10);
    } catch (e) {
      return false;
    }
  });
  let had;
  try {
    had = (await theirs.getData()).balance;
  } catch (e) {
    had = new TonWeb.utils.BN(0);
  }
  await wallet.methods.transfer({
    secretKey: key.secretKey, toAddress: (await own.getAddress()).toString(true, true, true), amount: TonWeb.utils.toNano('0.2'), seqno: seqno + 1, sendMode: 1,
    payload: await own.createTransferBody({
      jettonAmount: new TonWeb.utils.BN(2), toAddress: new TonWeb.Address(given.receiver), forwardAmount: TonWeb.utils.toNano('0.01'),
      forwardPayload: new Uint8Array(), responseAddress: address,
    }),
  }).send();
  await until('the jettons arrive', async () => {
    try {
      return (await theirs.getData()).balance.eq(had.addn(2));
    } catch (e) {
      return false;
    }
  });
  console.log('ok');
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
