// Emulates transactions in the official emulator. In comes JSON on the standard
// input, a list of deliveries; out goes one line of JSON for each.
const fs = require('fs');
const { Executor } = require('@ton/sandbox');
const { Cell } = require('@ton/core');

async function main() {
  const { config, deliveries } = JSON.parse(fs.readFileSync(0, 'utf8'));
  const executor = await Executor.create();
  for (const d of deliveries) {
    const { result } = await executor.runTransaction({
      config, libs: d.libraries ? Cell.fromBase64(d.libraries) : null, verbosity: 'short', shardAccount: d.account,
      message: Cell.fromBase64(d.message), now: d.now, lt: BigInt(d.lt), randomSeed: Buffer.from(d.seed, 'hex'),
      ignoreChksig: d.unsigned, debugEnabled: false,
    });
    console.log(JSON.stringify(result.success
      ? { transaction: Cell.fromBase64(result.transaction).hash().toString('hex') }
      : { exit: result.vmResults ? result.vmResults.vmExitCode : 0, error: result.error }));
  }
}

main().catch((e) => { console.error(e); process.exit(1); });
