'use strict';
// arguments - hostile arguments get an exception, and the filter stays sound.

const { test } = require('node:test');
const assert = require('node:assert/strict');
const { Filter, dedup, canonicalize, plan } = require(process.env.SOURCE + '/node');

const WRONG = [undefined, null, 1, 1n, true, Symbol('x'), {}, () => 1, new Date(), new Map(), new Uint16Array(4), new ArrayBuffer(8)];

test('keys are strings or Uint8Arrays', () => {
  const f = new Filter({ kind: 'spectral', capacity: 100 });
  for (const wrong of [...WRONG, ['a']]) {
    for (const verb of ['add', 'has', 'remove', 'count', 'hasPrefix', 'dates']) {
      assert.throws(() => f[verb](wrong), TypeError, `${verb} ${typeof wrong}`);
    }
    assert.throws(() => f.addMany(['a', wrong]), { name: 'TypeError', message: /keys\[1\]/ });
  }
  assert.equal(f.has('never'), false);
});

test('lists of keys are iterable', async () => {
  const f = new Filter({ capacity: 100 });
  for (const wrong of ['text', 1, null, undefined, {}, Symbol('x'), new Uint16Array(3)]) {
    for (const verb of ['addMany', 'hasMany', 'removeMany', 'countMany']) {
      assert.throws(() => f[verb](wrong), TypeError, `${verb} ${typeof wrong}`);
      await assert.rejects(f[`${verb}Async`](wrong), TypeError);
    }
  }
});

test('every option refuses every wrong type', () => {
  const numbers = ['capacity', 'memory', 'hashes', 'filters', 'growth', 'counterBits', 'layers', 'generations',
    'windowSeconds', 'deletions', 'seed', 'fingerprintBits', 'fpRate', 'multiplier', 'tightening', 'machine', 'format'];
  for (const name of numbers) {
    for (const wrong of ['10', null, true, [10], {}, Symbol('x'), () => 1, new Date()]) {
      assert.throws(() => plan({ capacity: 10, [name]: wrong }), { name: 'TypeError', message: new RegExp(name) }, name);
    }
    for (const wrong of [0, -1, NaN, Infinity, -0.5, 2 ** 70, -(2n ** 64n), 2n ** 64n]) {
      if (typeof wrong === 'bigint' && ['fpRate', 'multiplier', 'tightening'].includes(name)) continue;
      if (wrong === 2 ** 70 && name === 'tightening') continue;
      assert.throws(() => plan({ capacity: 10, [name]: wrong }), { message: new RegExp(name) }, `${name} ${wrong}`);
    }
  }
  for (const name of ['kind', 'hash', 'partKind', 'url']) {
    for (const wrong of [null, 1, true, Symbol('x'), 'nonsense', '', 'x'.repeat(1000), 'blocked\0']) {
      assert.throws(() => new Filter({ capacity: 10, [name]: wrong }), Error, `${name} ${String(wrong).slice(0, 20)}`);
    }
  }
  for (const wrong of [1, 'true', null, {}]) {
    assert.throws(() => new Filter({ capacity: 10, dates: wrong }), { name: 'TypeError', message: /dates/ });
    assert.throws(() => new Filter({ capacity: 10, grow: wrong }), { name: 'TypeError', message: /grow/ });
  }
  for (const wrong of ['x'.repeat(32), new Uint8Array(31), new Uint8Array(33), new Uint32Array(8)]) {
    assert.throws(() => new Filter({ capacity: 10, key: wrong }), { message: /key/ });
  }
  for (const wrong of ['', 'ab', 'ü', '\0', 256, -1]) {
    assert.throws(() => new Filter({ kind: 'layered', layeredWords: true, capacity: 10, delimiter: wrong }), { message: /delimiter/ });
  }
  for (const wrong of [null, 1, 'x', true]) assert.throws(() => new Filter(wrong), TypeError);
});

test('paths are strings without null bytes', () => {
  for (const wrong of [undefined, null, 1, {}, [], Buffer.from('x'), 'a\0b', '', new URL('http://x/')]) {
    assert.throws(() => Filter.open(wrong, { capacity: 10 }), Error, String(wrong));
  }
});

test('getters that throw and getters that lie', () => {
  const f = new Filter({ capacity: 100000 });
  const bad = ['a', 'b'];
  Object.defineProperty(bad, 1, { get() { throw new RangeError('mine'); } });
  assert.throws(() => f.addMany(bad), { name: 'RangeError', message: 'mine' });
  let reads = 0;
  const options = { get capacity() { reads++; return reads === 1 ? 1000 : 'evil'; } };
  assert.equal(new Filter(options).stats().capacity, 1000);
  assert.equal(reads, 1, 'an option is read once');
  assert.throws(() => new Filter({ get capacity() { throw new RangeError('mine'); } }), RangeError);
});

test('a getter that closes the filter', async () => {
  for (const verb of ['addMany', 'hasMany', 'addManyAsync', 'hasManyAsync']) {
    const f = new Filter({ capacity: 1000 });
    const evil = ['a', 'b'];
    Object.defineProperty(evil, 1, { get() { f.close(); return 'b'; } });
    await assert.rejects(async () => f[verb](evil), { code: 'DEJA_EINVAL', message: /closed/ }, verb);
  }
});

test('a getter that detaches the keys before it', () => {
  const f = new Filter({ capacity: 1000 });
  const buffer = new ArrayBuffer(1 << 20);
  const first = new Uint8Array(buffer).fill(97);
  const evil = [first, 'b'];
  Object.defineProperty(evil, 1, { get() { structuredClone(buffer, { transfer: [buffer] }); return 'b'; } });
  assert.deepEqual(f.addMany(evil), Uint8Array.of(1, 1));
  assert.equal(first.length, 0);
  assert.equal(f.has('a'.repeat(1 << 20)), true);
  assert.equal(f.add(first), true, 'a detached array is empty');
  assert.deepEqual(f.hasMany(first), new Uint8Array(0));
});

test('a getter that shortens the array', () => {
  const f = new Filter({ capacity: 1000 });
  const evil = ['a', 'b', 'c'];
  Object.defineProperty(evil, 0, { get() { evil.length = 1; return 'a'; }, configurable: true });
  assert.throws(() => f.addMany(evil), { name: 'TypeError', message: /keys\[1\]/ });
});

test('keys that are changed after an asynchronous call', async () => {
  const f = new Filter({ capacity: 1000 });
  const bytes = Buffer.from('one\ntwo\n');
  const list = ['three'];
  const running = [f.addManyAsync(bytes), f.addManyAsync(list)];
  bytes.fill(0);
  structuredClone(bytes.buffer.byteLength > 8 ? null : bytes.buffer);
  list[0] = 'four';
  await Promise.all(running);
  assert.deepEqual(f.hasMany(['one', 'two', 'three', 'four']), Uint8Array.of(1, 1, 1, 0));
});

test('proxies and borrowed methods', () => {
  const f = new Filter({ capacity: 1000 });
  assert.deepEqual(f.addMany(new Proxy(['a', 'b'], {})), Uint8Array.of(1, 1));
  assert.throws(() => f.addMany(new Proxy(new Uint8Array(3), {})), TypeError);
  assert.throws(() => f.add(new Proxy(new Uint8Array(3), {})), TypeError);
  assert.throws(() => new Proxy(f, {}).add('a'), TypeError);
  assert.throws(() => Filter.prototype.add.call({}, 'a'), TypeError);
  assert.throws(() => f.merge(new Proxy(f, {})), TypeError);
  assert.throws(() => f.merge(Object.create(Filter.prototype)), TypeError);
  class Mine extends Filter {
    add(key) { return super.add(String(key)); }
  }
  assert.equal(new Mine({ capacity: 10 }).add(5), true);
});

test('shared memory that changes meanwhile is only read', () => {
  const shared = new Uint8Array(new SharedArrayBuffer(64)).fill(10);
  const f = new Filter({ capacity: 1000 });
  assert.equal(f.addMany(shared).length, 64);
});

test('URLs and streams check their arguments', () => {
  for (const wrong of WRONG) assert.throws(() => canonicalize(wrong), TypeError);
  assert.throws(() => canonicalize('http://a/', 'nonsense'), { code: 'DEJA_EINVAL', message: /nonsense.*safe, crawl/ });
  assert.throws(() => canonicalize('http://a/', { profile: 'crawl', drop: 'utm' }), { message: /url\.drop/ });
  assert.throws(() => canonicalize('http://a/', { profile: 'crawl', drop: [1] }), TypeError);
  assert.throws(() => canonicalize('http://a/', { profile: 'safe', drop: ['a'] }), { code: 'DEJA_EINVAL' });
  for (const wrong of [1, {}, null]) {
    assert.throws(() => dedup({ filter: wrong }), TypeError);
    assert.throws(() => dedup({ destination: wrong }), TypeError);
  }
});
