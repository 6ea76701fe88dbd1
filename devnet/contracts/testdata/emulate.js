// Executes transactions with the official emulator: in come a config and lines
// of JSON, out goes a line for each that comes out another.
const { Executor } = require('@ton/sandbox');
const { Cell } = require('@ton/core');

(async () => {
  const [config, ...lines] = require('fs').readFileSync(0, 'utf8').trim().split('\n');
  let executor = await Executor.create();
  const again = boc => Cell.fromBase64(boc).toBoc().toString('base64');
  for (const [i, line] of lines.entries()) {
    const one = JSON.parse(line);
    const common = {
      config, libs: null, verbosity: 'short', shardAccount: again(one.Account), now: one.Now, lt: BigInt(one.LT),
      randomSeed: Buffer.from(one.Seed, 'hex'), ignoreChksig: false, debugEnabled: false,
    };
    let result;
    try {
      ({ result } = one.Message
        ? await executor.runTransaction({ ...common, message: Cell.fromBase64(one.Message) })
        : await executor.runTickTock({ ...common, which: one.Which }));
    } catch (error) {
      console.log(`${i}: ${error} ${line}`);
      executor = await Executor.create();
      continue;
    }
    const hash = result.success ? Cell.fromBase64(result.transaction).hash().toString('hex') : '';
    const after = result.success ? Cell.fromBase64(result.shardAccount).hash().toString('hex') : '';
    if (hash !== one.Hash || after !== one.After) {
      console.log(`${i}: ${JSON.stringify({ ...one, hash, after, error: result.error })}`);
    }
  }
  console.log('done ' + lines.length);
})();
