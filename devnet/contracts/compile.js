// Compiles contracts in Tolk: node compile.js SOURCES OUT [NAME ...] writes
// OUT/NAME.boc for each SOURCES/NAME.tolk. Files that are only imported begin
// with an underscore. It needs the packages of test/support/node in NODE_PATH: go
// generate has them.
const fs = require('fs'), path = require('path');
const { runTolkCompiler } = require('@ton/tolk-js');

(async () => {
  const [src, out, ...only] = process.argv.slice(2);
  const names = fs.readdirSync(src).filter(f => f.endsWith('.tolk') && !f.startsWith('_')).map(f => f.slice(0, -5)).sort();
  let failed = false;
  for (const name of names) {
    if (only.length && !only.includes(name)) continue;
    const result = await runTolkCompiler({
      entrypointFileName: name + '.tolk',
      fsReadCallback: file => fs.readFileSync(path.join(src, file), 'utf8'),
    });
    if (result.status !== 'ok') {
      failed = true;
      console.error(name + ': ' + result.message);
      continue;
    }
    if (result.stderr) console.error(result.stderr);
    const code = Buffer.from(result.codeBoc64, 'base64');
    fs.writeFileSync(path.join(out, name + '.boc'), code);
    console.log(name, code.length, result.codeHashHex);
  }
  process.exit(failed ? 1 : 0);
})();
