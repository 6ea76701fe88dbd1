// Runs get-methods in the official emulator. In comes JSON on the standard
// input, a list of calls; out goes one line of JSON for each. Without calls it
// prints its own blockchain config.
const fs = require('fs');
const { Executor, defaultConfig } = require('@ton/sandbox');
const { Cell, Address, parseTuple } = require('@ton/core');

const cellOf = (b64) => Cell.fromBase64(b64);

function blockOf(b) {
  return {
    workchain: b.workchain, shard: BigInt(b.shard), seqno: b.seqno,
    rootHash: Buffer.from(b.root, 'hex'), fileHash: Buffer.from(b.file, 'hex'),
  };
}

async function main() {
  const { config, calls } = JSON.parse(fs.readFileSync(0, 'utf8'));
  if (!calls) {
    console.log(defaultConfig);
    return;
  }
  const executor = await Executor.create();
  for (const call of calls) {
    const previous = call.previous && {
      lastMcBlocks: call.previous.last.map(blockOf),
      prevKeyBlock: blockOf(call.previous.key),
      lastMcBlocks100: call.previous.hundreds.map(blockOf),
    };
    const { output } = await executor.runGetMethod({
      code: cellOf(call.code), data: cellOf(call.data), methodId: call.method,
      stack: parseTuple(cellOf(call.stack)), config: config || defaultConfig, verbosity: 'short',
      libs: call.libraries ? cellOf(call.libraries) : undefined,
      address: Address.parse(call.address), unixTime: call.now, balance: BigInt(call.balance),
      randomSeed: Buffer.from(call.seed, 'hex'), gasLimit: BigInt(call.gas), debugEnabled: false,
      extraCurrency: call.extra ? Object.fromEntries(Object.entries(call.extra).map(([k, v]) => [k, BigInt(v)])) : undefined,
      prevBlocksInfo: previous || undefined,
    });
    console.log(JSON.stringify(output.success ? {
      exit: output.vm_exit_code, gas: Number(output.gas_used),
      stack: cellOf(output.stack).hash().toString('hex'), cell: output.stack,
      missing: output.missing_library || '',
    } : { error: output.error }));
  }
}

main().catch((e) => { console.error(e); process.exit(1); });
