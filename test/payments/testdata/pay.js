// @ton-pay/api, unchanged but for its address: makes transfers, or looks them up by both
// ways. In comes {base, key, create: [...]} or {base, key, lookup: [{reference, bodyHash}]}.
const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.env.TONPAY_BASE_URL = given.base;
const pay = require('@ton-pay/api');

async function main() {
  const options = { chain: 'testnet', apiKey: given.key };
  const made = [];
  for (const order of given.create || []) made.push(await pay.createTonPayTransfer(order, options));
  for (const { reference, bodyHash } of given.lookup || []) {
    made.push([await pay.getTonPayTransferByReference(reference, options), await pay.getTonPayTransferByBodyHash(bodyHash, { chain: 'testnet' })]);
  }
  console.log(JSON.stringify(made));
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
