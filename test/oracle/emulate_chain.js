// Executes a chain's transactions with the official emulator, each on the state
// that the emulator itself left the account in. In comes the config, then lines
// of JSON; out goes a line for every transaction that comes out another, or
// leaves another state or balance than the line says, and the count of all at
// the end.
const { Executor } = require('@ton/sandbox');
const { Cell, beginCell, loadShardAccount } = require('@ton/core');

const none = beginCell().storeRef(beginCell().storeBit(0).endCell()).storeUint(0n, 256).storeUint(0n, 64).endCell();
const boc = cell => cell.toBoc().toString('base64');

(async () => {
  const [config, ...lines] = require('fs').readFileSync(0, 'utf8').trim().split('\n');
  const executor = await Executor.create();
  const accounts = new Map();
  let count = 0;
  for (const line of lines) {
    const one = JSON.parse(line);
    if (one.State) {
      accounts.set(one.Account, boc(Cell.fromBase64(one.State)));
      continue;
    }
    count++;
    const common = {
      config, libs: null, verbosity: 'short', shardAccount: accounts.get(one.Account) ?? boc(none), now: one.Now, lt: BigInt(one.LT),
      randomSeed: Buffer.from(one.Seed, 'hex'), ignoreChksig: false, debugEnabled: false,
    };
    const { result } = one.Message
      ? await executor.runTransaction({ ...common, message: Cell.fromBase64(one.Message) })
      : await executor.runTickTock({ ...common, which: one.Which });
    const hash = result.success ? Cell.fromBase64(result.transaction).hash().toString('hex') : '';
    if (hash !== one.Hash) {
      console.log(JSON.stringify({ Account: one.Account, LT: one.LT, have: one.Hash, official: hash, error: result.error, Message: one.Message }));
    }
    if (result.success) {
      const after = Cell.fromBase64(result.shardAccount);
      const state = after.refs[0].hash().toString('hex');
      const balance = (loadShardAccount(after.beginParse()).account?.storage.balance.coins ?? 0n).toString();
      if (one.StateHash && (state !== one.StateHash || balance !== one.Balance)) {
        console.log(JSON.stringify({ Account: one.Account, LT: one.LT, have: [one.StateHash, one.Balance], official: [state, balance] }));
      }
      // An account that is gone begins anew.
      accounts.set(one.Account, after.refs[0].bits.at(0) ? boc(after) : boc(none));
    }
  }
  console.log('executed ' + count);
})();
