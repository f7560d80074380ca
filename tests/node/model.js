'use strict';
// model - random operations on filters and on exact sets agree.

const { test } = require('node:test');
const assert = require('node:assert/strict');
const { Filter } = require(process.env.SOURCE + '/node');

// A small generator of repeatable numbers (xorshift32).
function random(seed) {
  let x = seed >>> 0 || 1;
  return (n) => {
    x ^= x << 13; x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5; x >>>= 0;
    return x % n;
  };
}

// Keys of every shape: short, long, text beyond Latin-1, with newlines and zeros, bytes.
function keyOf(n) {
  switch (n % 6) {
    case 0: return `key ${n}`;
    case 1: return `кулюч ${n}`;
    case 2: return `${n}\n\0${n}`;
    case 3: return `${n} ` + 'long '.repeat(n % 400);
    case 4: return Buffer.from(`bytes ${n}`);
    default: return `😀${n}`;
  }
}
const nameOf = (key) => (typeof key === 'string' ? key : key.toString('latin1'));

class Model {
  constructor(pick) {
    this.pick = pick;
    this.set = new Set();
    this.file = `model${pick(1e9)}.deja`;
    this.filter = Filter.open(this.file, { kind: 'exact', capacity: 100 });
  }

  keys() {
    return Array.from({ length: this.pick(200) }, () => keyOf(this.pick(3000)));
  }

  expect(keys, add) {
    return keys.map((key) => {
      const known = this.set.has(nameOf(key));
      if (add) this.set.add(nameOf(key));
      return Number(add ? !known : known);
    });
  }

  async step() {
    const { pick, filter } = this;
    const key = keyOf(pick(3000));
    const keys = this.keys();
    switch (pick(9)) {
      case 0: return assert.equal(Number(filter.add(key)), this.expect([key], true)[0]);
      case 1: return assert.equal(Number(filter.has(key)), this.expect([key], false)[0]);
      case 2: return assert.deepEqual([...filter.addMany(keys)], this.expect(keys, true));
      case 3: return assert.deepEqual([...filter.hasMany(keys)], this.expect(keys, false));
      case 4: return assert.deepEqual([...(await filter.addManyAsync(keys))], this.expect(keys, true));
      case 5: return assert.deepEqual([...(await filter.hasManyAsync(keys))], this.expect(keys, false));
      case 6: {
        const lines = keys.filter((k) => !nameOf(k).includes('\n'));
        const text = Buffer.from(lines.map((k) => (typeof k === 'string' ? k : k.toString())).join('\n'));
        return assert.deepEqual([...filter.addMany(text)], this.expect(lines, true));
      }
      case 7: {
        filter.close();
        this.filter = Filter.open(this.file);
        return assert.equal(this.filter.size, this.set.size);
      }
      default: {
        this.filter.sync();
        const copy = Filter.fromBytes(this.filter.toBytes());
        const all = [...this.set].slice(0, 50);
        return assert.ok(copy.hasMany(all.map((n) => (n.startsWith('bytes') ? Buffer.from(n) : n))).every(Boolean));
      }
    }
  }
}

test('random operations agree with a set', async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const model = new Model(random(seed * 7919));
    for (let i = 0; i < 150; i++) await model.step();
    assert.ok(model.set.size > 300);
    model.filter.close();
  }
});

test('counts agree with a map', () => {
  const pick = random(99);
  const filter = new Filter({ kind: 'spectral', capacity: 5000, counterBits: 16, fpRate: 1e-9 });
  const counts = new Map();
  for (let i = 0; i < 5000; i++) {
    const key = `key ${pick(400)}`;
    const n = counts.get(key) ?? 0;
    if (pick(3)) {
      filter.add(key);
      counts.set(key, n + 1);
    } else {
      assert.equal(filter.remove(key), n > 0);
      counts.set(key, Math.max(n - 1, 0));
    }
  }
  for (const [key, n] of counts) assert.equal(filter.count(key), n);
  assert.deepEqual([...filter.countMany([...counts.keys()])], [...counts.values()].map(BigInt));
});

test('false positives stay near their rate', () => {
  const filter = new Filter({ capacity: 50000, fpRate: 0.01, seed: 5, grow: false });
  filter.addMany(Array.from({ length: 50000 }, (_, i) => `key ${i}`));
  const n = 200000;
  const wrong = filter.hasMany(Array.from({ length: n }, (_, i) => `other ${i}`)).reduce((a, b) => a + b);
  const rate = filter.stats({ body: true }).fpNow;
  const sigma = Math.sqrt(n * rate * (1 - rate));
  assert.ok(Math.abs(wrong - n * rate) < 5 * sigma, `${wrong} of ${n} at ${rate}`);
});
