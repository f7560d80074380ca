'use strict';
// concurrent - asynchronous calls, workers and the collector.

const { test } = require('node:test');
const assert = require('node:assert/strict');
const { Worker } = require('node:worker_threads');
const { execFileSync } = require('node:child_process');
const { Filter } = require(process.env.SOURCE + '/node');

const keys = (n, name = 'key') => Array.from({ length: n }, (_, i) => `${name} ${i}`);
const ones = (answers) => answers.reduce((sum, x) => sum + x, 0);

test('asynchronous calls on one filter run together', async () => {
  const f = new Filter({ capacity: 100000, seed: 1 }); // no key is a false positive with this seed
  const answers = await Promise.all([0, 1, 2, 3].map((i) => f.addManyAsync(keys(20000, `part ${i}`))));
  assert.deepEqual(answers.map(ones), [20000, 20000, 20000, 20000]);
  assert.equal(f.size, 80000);
  assert.equal(ones(await f.hasManyAsync(Buffer.from(keys(20000, 'part 2').join('\n')))), 20000);
});

test('while one runs, single calls work and the others fail', async () => {
  const f = new Filter({ capacity: 100000, seed: 1 });
  const g = new Filter({ capacity: 10 });
  const running = f.addManyAsync(keys(50000));
  assert.equal(f.add('now'), true);
  assert.equal(f.has('now'), true);
  assert.deepEqual(f.addMany(['now', 'then']), Uint8Array.of(0, 1));
  const busy = { code: 'DEJA_EBUSY', message: /asynchronous call/ };
  for (const call of [() => f.close(), () => f.stats(), () => f.size, () => f.rotate(), () => f.fold(), () => f.merge(g),
    () => g.merge(f), () => f.toBytes(), () => f.save('x.deja'), () => f.capabilities, () => Filter.like(f)]) {
    assert.throws(call, busy, String(call));
  }
  assert.match(String(f), /in use/);
  assert.equal(ones(await running), 50000);
  assert.equal(f.size, 50002);
  f.close();
  await assert.rejects(f.addManyAsync(['a']), { message: /closed/ });
});

test('errors of asynchronous calls reject', async () => {
  const f = new Filter({ capacity: 100 });
  await assert.rejects(f.addManyAsync(['a', 5]), { name: 'TypeError', message: /keys\[1\]/ });
  await assert.rejects(f.removeManyAsync(['a']), { code: 'DEJA_ENOTSUP' });
  await assert.rejects(f.countManyAsync(['a']), { code: 'DEJA_ENOTSUP' });
  const s = new Filter({ kind: 'spectral', capacity: 100 });
  await s.addManyAsync(['a', 'a']);
  assert.deepEqual(await s.countManyAsync(['a', 'b']), BigUint64Array.of(2n, 0n));
  assert.deepEqual(await s.removeManyAsync(['a', 'b']), Uint8Array.of(1, 0));
});

function inWorker(code, workerData) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

test('workers have filters of their own', async () => {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { Filter, DejaError } = require(process.env.SOURCE + '/node');
    const f = new Filter({ capacity: 10000 });
    const n = f.addMany(Array.from({ length: 10000 }, (_, i) => workerData + ' ' + i)).reduce((a, b) => a + b);
    let busy;
    try { Filter.open('worker.deja', { mode: 'r+' }); } catch (e) { busy = e instanceof DejaError && e.code; }
    const reader = Filter.open('worker.deja', { mode: 'r' });
    parentPort.postMessage([n, busy, reader.has('main')]);`;
  const f = Filter.create('worker.deja', { capacity: 10 });
  f.add('main');
  const answers = await Promise.all([1, 2, 3].map((i) => inWorker(code, i)));
  for (const answer of answers) assert.deepEqual(answer, [10000, 'DEJA_EBUSY', true]);
  f.close();
});

test('a worker can end during an asynchronous call', async () => {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const { Filter } = require(process.env.SOURCE + '/node');
    const f = new Filter({ capacity: 1000 });
    f.addManyAsync(Array.from({ length: 100000 }, (_, i) => 'key ' + i));
    parentPort.postMessage('started');
    setTimeout(() => process.exit(), 1);`;
  for (let i = 0; i < 5; i++) {
    const worker = new Worker(code, { eval: true });
    await new Promise((resolve) => worker.once('message', resolve));
    await worker.terminate();
  }
});

test('the collector frees filters that nobody holds', () => {
  // No gc() here: V8 collects because the addon reports how much memory the filters have.
  const code = `
    const fs = require('node:fs');
    const { Filter } = require(process.env.SOURCE + '/node');
    const size = () => Number(/VmSize:\\s+(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
    (async () => {
      const start = size();
      let most = 0;
      for (let i = 0; i < 150; i++) {
        new Filter({ capacity: 8e7, fpRate: 0.01, grow: false }).add('a');
        new Filter({ capacity: 10 }).addManyAsync(['a', 'b']);
        await new Promise((resolve) => setImmediate(resolve));
        most = Math.max(most, size() - start);
      }
      console.log(most < 5e9 ? 'ok' : most);
    })();`;
  assert.equal(execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' }), 'ok\n');
});
