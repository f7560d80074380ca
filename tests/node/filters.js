'use strict';
// filters - kinds, files, set operations and errors of the npm package.

const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { pathToFileURL } = require('node:url');
const { Filter, DejaError, plan, verify, version } = require(process.env.SOURCE + '/node');

const keys = (n, name = 'key') => Array.from({ length: n }, (_, i) => `${name} ${i}`);
const ones = (answers) => answers.reduce((sum, x) => sum + x, 0);
let files = 0;
const fresh = () => path.resolve(`filter${files++}.deja`);

test('a key is new once', () => {
  const f = new Filter({ capacity: 1000 });
  assert.equal(f.add('a'), true);
  assert.equal(f.add('a'), false);
  assert.equal(f.has('a'), true);
  assert.equal(f.has('b'), false);
  assert.equal(f.size, 1);
});

test('strings are the same keys as their UTF-8', () => {
  const f = new Filter({ capacity: 1000 });
  f.add('Grüße 😀');
  assert.equal(f.add(Buffer.from('Grüße 😀')), false);
  f.add('\ud800');
  assert.equal(f.has('\ufffd'), true, 'a lone surrogate is U+FFFD');
  f.add('');
  assert.equal(f.has(new Uint8Array(0)), true);
  for (const length of [1019, 1020, 1021, 1022, 1023, 1024, 1025, 70000]) {
    assert.equal(f.add('x'.repeat(length)), true);
    assert.equal(f.has(Buffer.from('x'.repeat(length))), true);
    const wide = 'x'.repeat(length - 3) + '😀';
    assert.equal(f.add(wide), true);
    assert.deepEqual(f.hasMany([wide, Buffer.from(wide)]), Uint8Array.of(1, 1));
  }
});

test('batches answer like single calls, in order', () => {
  const f = new Filter({ capacity: 30000 });
  assert.deepEqual(f.addMany(['a', 'b', 'a']), Uint8Array.of(1, 1, 0));
  assert.deepEqual(f.hasMany(['b', Buffer.from('c')]), Uint8Array.of(1, 0));
  assert.deepEqual(f.addMany(Buffer.from('b\nc\n\nd')), Uint8Array.of(0, 1, 1, 1));
  assert.equal(f.has(''), true);
  assert.deepEqual(f.hasMany(Buffer.from('')), new Uint8Array(0));
  assert.deepEqual(f.hasMany([]), new Uint8Array(0));
  assert.deepEqual(f.hasMany(new Set(['a', 'z'])), Uint8Array.of(1, 0));
  assert.equal(ones(f.addMany(keys(10000))), 10000, 'more than one portion');
  assert.equal(ones(f.hasMany(Buffer.from(keys(10000).join('\n')))), 10000);
});

test('every kind works with its own operations', () => {
  for (const kind of ['blocked', 'classic', 'layered', 'spectral', 'paired', 'scalable', 'window', 'exact']) {
    const f = new Filter({ kind, capacity: 1000, grow: kind === 'scalable' });
    assert.equal(f.add('http://a.example/b'), true, kind);
    assert.equal(f.has('http://a.example/b'), true, kind);
    assert.equal(f.stats().kind, kind);
    assert.ok(f.capabilities.includes('add'));
  }
  const spectral = new Filter({ kind: 'spectral', capacity: 1000 });
  spectral.addMany(['a', 'a', 'b']);
  assert.equal(spectral.count('a'), 2);
  assert.deepEqual(spectral.countMany(['a', 'b', 'c']), BigUint64Array.of(2n, 1n, 0n));
  assert.equal(spectral.remove('a'), true);
  assert.deepEqual(spectral.removeMany(['a', 'c']), Uint8Array.of(1, 0));
  const layered = new Filter({ kind: 'layered', capacity: 1000 });
  layered.add('http://a.example/b/c');
  assert.equal(layered.hasPrefix('http://a.example/b'), true);
  assert.equal(layered.hasPrefix('http://other.example/'), false);
});

test('a static filter is built from all its keys', () => {
  for (const given of [keys(3000), Buffer.from(keys(3000).join('\n'))]) {
    const f = Filter.build(given, { fpRate: 0.01 });
    assert.equal(ones(f.hasMany(keys(3000))), 3000);
    assert.ok(ones(f.hasMany(keys(3000, 'other'))) < 60);
    assert.throws(() => f.add('new'), { name: 'DejaError', code: 'DEJA_ENOTSUP' });
  }
  const file = fresh();
  Filter.build(['http://A.example:80/'], { path: file, url: 'safe' }).close();
  const opened = Filter.open(file, { mode: 'r' });
  assert.equal(opened.has('HTTP://a.example/'), true);
  const list = Filter.build(['http://bad.example/x/', 'not a URL'], { url: 'gsb', fpRate: 1e-9 });
  assert.equal(list.has('http://www.bad.example/x/y?z'), true);
  assert.equal(list.has('http://bad.example/'), false);
});

test('a file keeps its keys', () => {
  const file = fresh();
  const f = Filter.open(file, { capacity: 1000 });
  f.addMany(['a', 'b']);
  f.close();
  f.close();
  assert.equal(f.closed, true);
  assert.throws(() => f.has('a'), { code: 'DEJA_EINVAL', message: /closed/ });
  assert.throws(() => f.sync(), { code: 'DEJA_EINVAL', message: /closed/ });
  verify(file);
  const again = Filter.open(file);
  assert.deepEqual(again.hasMany(['a', 'b', 'c']), Uint8Array.of(1, 1, 0));
  assert.throws(() => Filter.open(file), { code: 'DEJA_EBUSY' }, 'one writer');
  const reader = Filter.open(pathToFileURL(file), { mode: 'r' });
  again.add('late');
  assert.equal(reader.has('late'), true, 'readers see adds at once');
  assert.throws(() => reader.add('x'), { code: 'DEJA_EINVAL' });
  again.close();
});

test('modes decide about existing and missing files', () => {
  const file = fresh();
  for (const mode of ['r', 'r+']) {
    assert.throws(() => Filter.open(file, { mode }), { code: 'DEJA_EIO', system: 'ENOENT', message: new RegExp(file) });
  }
  assert.equal(fs.existsSync(file), false);
  Filter.create(file, { capacity: 10, permissions: 0o640 }).close();
  assert.equal(fs.statSync(file).mode & 0o777, 0o640);
  assert.throws(() => Filter.create(file, { capacity: 10 }), { system: 'EEXIST' });
  assert.throws(() => Filter.open(file, { mode: 'x' }), { system: 'EEXIST' });
  const f = Filter.create(file, { capacity: 10, replace: true });
  assert.equal(f.add('a'), true);
  f.close();
  assert.throws(() => Filter.open(file, { mode: 'q' }), { code: 'DEJA_EINVAL', message: /mode/ });
  fs.writeFileSync('other', 'not a filter '.repeat(1000));
  assert.throws(() => Filter.open('other'), { code: 'DEJA_EFORMAT', message: /^other: / });
  assert.throws(() => Filter.create('other', { replace: true, capacity: 10 }), { name: 'DejaError' });
  assert.match(fs.readFileSync('other', 'utf8'), /^not a filter/);
  assert.throws(() => Filter.open('/nowhere/at/all.deja', { capacity: 10 }), { code: 'DEJA_EIO', system: 'ENOENT' });
});

test('an existing file refuses other rules and keys', () => {
  const file = fresh();
  Filter.create(file, { capacity: 10, key: Buffer.alloc(32, 1), url: 'safe' }).close();
  assert.throws(() => Filter.open(file), { name: 'DejaError', message: /key/ });
  assert.throws(() => Filter.open(file, { key: Buffer.alloc(32, 2) }), { code: 'DEJA_EMISMATCH' });
  assert.throws(() => Filter.open(file, { key: Buffer.alloc(32, 1), url: 'crawl' }), { code: 'DEJA_EMISMATCH' });
  assert.throws(() => Filter.open(file, { key: Buffer.alloc(32, 1), kind: 'classic' }), { code: 'DEJA_EMISMATCH' });
  Filter.open(file, { key: Buffer.alloc(32, 1), url: 'safe', capacity: 99 }).close();
});

test('errors name the options of JavaScript', () => {
  const refused = (options, message) => assert.throws(() => new Filter(options), { code: 'DEJA_EINVAL', message });
  refused({ capacity: 10, fpRate: 2 }, /^fpRate is 2/);
  refused({ capacity: 10, fpRate: 0.1, memory: 1000, grow: false }, /(?<!options\.)(capacity|fpRate|memory)/);
  refused({ capacity: 10, key: Buffer.alloc(32), seed: 1 }, /^key and seed /);
  refused({ kind: 'nonsense' }, /^kind "nonsense"/);
  refused({ kind: 'spectral', capacity: 10, counterBits: 5 }, /counterBits/);
  assert.throws(() => new Filter({ fp_rate: 1 }), { name: 'TypeError', message: /fp_rate.*fpRate/ });
  const error = new DejaError('x', -4);
  assert.ok(error instanceof Error);
  assert.equal(error.code, 'DEJA_EFORMAT');
  assert.equal(new DejaError('a\x1b[31mb').message, 'a\\x1b[31mb');
});

test('options have the types of the table', () => {
  assert.equal(new Filter({ capacity: 1000n, seed: 2n ** 63n }).add('a'), true);
  assert.equal(new Filter({ capacity: 1000.7 }).stats().capacity, 1000);
  assert.equal(new Filter({ kind: 'layered', layeredWords: true, delimiter: ',', capacity: 10 }).stats({ body: true }).delimiter, 44);
  assert.equal(new Filter({ capacity: 10, hash: 'siphash', grow: false, kind: 'blocked' }).stats().hash, 'siphash');
  const same = [1, 1].map(() => new Filter({ capacity: 100, seed: 7 }));
  same.forEach((f) => f.add('a'));
  assert.deepEqual(same[0].toBytes(), same[1].toBytes());
  assert.equal(plan({ capacity: 1e9, fpRate: 0.01, grow: false }).bytes, 1238534336);
});

test('filters grow unless their size is fixed', async () => {
  const grown = new Filter({ capacity: 100 });
  assert.equal(ones(grown.addMany(keys(5000))), 5000);
  assert.ok(grown.stats().parts > 1);
  const [warning] = await new Promise((resolve) => {
    process.once('warning', (...args) => resolve(args));
    const fixed = new Filter({ capacity: 100, grow: false, kind: 'exact', fpRate: undefined });
    try {
      fixed.addMany(keys(2000));
    } catch (error) {
      assert.equal(error.code, 'DEJA_EFULL');
      assert.ok(error.done > 0);
    }
    const full = new Filter({ capacity: 100, grow: false });
    for (const key of keys(200)) full.add(key);
  });
  assert.equal(warning.name, 'DejaCapacityWarning');
  assert.match(warning.message, /sized for 100 keys/);
  assert.throws(() => new Filter({ grow: false }), { code: 'DEJA_EINVAL', message: /grow: false/ });
  assert.throws(() => new Filter({ kind: 'spectral', capacity: 10, grow: true }), { message: /grow: true/ });
});

test('set operations and visits', () => {
  const a = new Filter({ memory: 65536, grow: false });
  const b = Filter.like(a);
  a.addMany(keys(100));
  b.addMany(keys(200).slice(50));
  const shared = a.overlap(b);
  assert.ok(shared.keys > 30 && shared.keys < 70, `overlap ${shared.keys}`);
  assert.equal(a.merge(b), a);
  assert.equal(ones(a.hasMany(keys(200))), 200);
  assert.throws(() => a.merge(new Filter({ memory: 65536, grow: false })), { code: 'DEJA_EMISMATCH' });
  assert.throws(() => a.merge({}), TypeError);
  assert.throws(() => a.merge(null), TypeError);
  const before = a.stats().bytes;
  a.fold();
  assert.equal(a.stats().folds, 1);
  assert.ok(a.stats().bytes <= before);
  assert.throws(() => a.fold(0), { message: /times/ });
  const copy = Filter.fromBytes(a.toBytes());
  assert.equal(ones(copy.hasMany(keys(200))), 200);
  assert.throws(() => Filter.fromBytes(Buffer.alloc(8192)), { code: 'DEJA_EFORMAT' });
  assert.throws(() => Filter.fromBytes(a.toBytes().subarray(0, 5000)), { code: 'DEJA_EFORMAT' });
  a.rotate();
  assert.equal(a.size, 0);
  assert.equal(a.stats().visit, 2);
  a.rotate({ capacity: 5000 });
  assert.equal(a.stats().capacity, 5000);
  assert.throws(() => a.rotate({ kind: 'classic' }), TypeError);
});

test('save copies to a file', () => {
  const f = new Filter({ capacity: 100, url: 'crawl' });
  f.add('http://a.example/?b=1&a=2');
  const file = fresh();
  f.save(file).close();
  const opened = Filter.open(file);
  assert.equal(opened.has('http://a.example/?a=2&b=1'), true);
  opened.close();
  assert.throws(() => f.save(file), { system: 'EEXIST' });
  f.save(file, { replace: true }).close();
});

test('filters with dates expire keys', () => {
  const f = new Filter({ dates: true, capacity: 100 });
  f.add('a');
  const today = Math.floor(Date.now() / 86400000);
  const { first, last } = f.dates('a');
  assert.ok(Math.abs(first.getTime() / 86400000 - today) <= 1);
  assert.deepEqual(first, last);
  assert.equal(f.dates('b'), undefined);
  assert.equal(f.older(new Date()), 0);
  assert.equal(f.expire(new Date(Date.now() + 3 * 86400000)), 1);
  assert.equal(f.has('a'), false);
  assert.throws(() => f.expire(5), TypeError);
  assert.throws(() => f.expire(new Date(NaN)), TypeError);
});

test('dispose closes and syncs', async () => {
  const file = fresh();
  const f = Filter.open(file, { capacity: 10 });
  f.add('a');
  f[Symbol.dispose ?? Symbol.for('nodejs.dispose')]();
  assert.equal(f.closed, true);
  verify(file);
  const g = Filter.open(file);
  const running = g.addManyAsync(keys(5000));
  await g[Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]();
  assert.equal(ones(await running), 5000);
  assert.equal(g.closed, true);
});

test('a filter describes itself', () => {
  const f = new Filter({ capacity: 10 });
  f.add('a');
  assert.equal(String(f), 'Filter(scalable blocked, 1 keys, rate 0.000001, in memory)');
  assert.equal(require('node:util').inspect(f), String(f));
  f.close();
  assert.equal(String(f), 'Filter(closed, in memory)');
  assert.doesNotThrow(() => require('node:util').inspect(Filter.prototype));
  assert.doesNotThrow(() => require('node:util').inspect(Object.create(f)));
});

test('with guardFiles, a truncated file is an error', () => {
  const code = `
    const { Filter, guardFiles } = require(process.env.SOURCE + '/node');
    guardFiles();
    const f = Filter.create('cut.deja', { capacity: 1e6, seed: 1 });
    f.addMany(Array.from({ length: 1000 }, (_, i) => 'key ' + i));
    require('node:fs').truncateSync('cut.deja', 8192);
    const codes = [() => f.has('a'), () => f.hasMany(['a', 'b']), () => f.add('c'), () => f.sync()].map((call) => {
      try { call(); } catch (error) { return error.code; }
    });
    console.log(codes.join());
    process.exit();`;
  const done = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  assert.equal(done.stdout, 'DEJA_EIO,DEJA_EIO,DEJA_EIO,DEJA_EIO\n', done.stderr);
});

test('the package has the version of the library', () => {
  assert.equal(require(process.env.SOURCE + '/node/package.json').version, version);
});
