// Reads bodies, one in each line, and prints what JSON.stringify makes of each and whether
// the client of shops finds its signature right, for the text and for the object.
const { createHmac } = require('crypto');
const { verifySignature } = require('@ton-pay/api');
const secret = process.argv[2];
for (const line of require('fs').readFileSync(0).toString().split('\n').slice(0, -1)) {
  const signature = 'sha256=' + createHmac('sha256', secret).update(line).digest('hex');
  const right = verifySignature(line, signature, secret) && verifySignature(JSON.parse(line), signature, secret);
  process.stdout.write(signature + ' ' + right + ' ' + JSON.stringify(JSON.parse(line)) + '\n');
}
