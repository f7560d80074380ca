'use strict';
// bench - deja next to a Set and other Bloom filters from npm, in one run:
//
//     node --expose-gc bench.js [KEYS]
//
// Peers are measured if they are installed here or in the current folder: bloom-filters, bloomfilter.
// Every answer is checked.  Times are CPU times of this process, the best of three; memory is what the
// process holds (for deja, what the library reports), per key.

const { createRequire } = require('node:module');
const path = require('node:path');
const { Filter, simd, version } = require('./index.js');

const n = Number(process.argv[2] ?? 1e6);
const RATE = 0.01;
const ROUNDS = 3;
const urls = (name) => Array.from({ length: n }, (_, i) => `https://${name}${i % 9973}.example.com/path/${i}/page?id=${i * 7}`);
const keys = urls('a');
const others = urls('b');

function peer(name) {
  for (const place of [__filename, path.join(process.cwd(), 'x.js')]) {
    try {
      return createRequire(place)(name);
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  console.error(`(${name} is not installed)`);
  return null;
}

function held() {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage(); // external includes the array buffers
  return heapUsed + external;
}

function timed(work) {
  const start = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(start);
  return { ns: ((user + system) * 1000) / n, result };
}

// Each contender: make() an empty set, add(set, key), has(set, key), and perhaps batches and bytes(set).
const contenders = [
  {
    name: 'deja, one key',
    make: () => new Filter({ capacity: n, fpRate: RATE, grow: false }),
    add: (f, key) => f.add(key),
    has: (f, key) => f.has(key),
    bytes: (f) => Number(f.stats().bytes),
  },
  {
    name: 'deja, arrays',
    make: () => new Filter({ capacity: n, fpRate: RATE, grow: false }),
    addAll: (f, list) => f.addMany(list),
    hasAll: (f, list) => f.hasMany(list).reduce((a, b) => a + b, 0),
    bytes: (f) => Number(f.stats().bytes),
  },
  {
    name: 'deja, lines',
    make: () => new Filter({ capacity: n, fpRate: RATE, grow: false }),
    prepare: (list) => Buffer.from(list.join('\n')),
    addAll: (f, lines) => f.addMany(lines),
    hasAll: (f, lines) => f.hasMany(lines).reduce((a, b) => a + b, 0),
    bytes: (f) => Number(f.stats().bytes),
  },
  {
    name: 'Set',
    make: () => new Set(),
    add: (s, key) => s.add(key),
    has: (s, key) => s.has(key),
    copies: true,
  },
];

const bloomFilters = peer('bloom-filters');
if (bloomFilters) {
  contenders.push({
    name: 'bloom-filters',
    make: () => bloomFilters.BloomFilter.create(n, RATE),
    add: (f, key) => f.add(key),
    has: (f, key) => f.has(key),
    slow: true,
  });
}
const bloomfilter = peer('bloomfilter');
if (bloomfilter) {
  const bits = Math.ceil((-n * Math.log(RATE)) / Math.LN2 ** 2);
  contenders.push({
    name: 'bloomfilter',
    make: () => new bloomfilter.BloomFilter(bits, Math.round((bits / n) * Math.LN2)),
    add: (f, key) => f.add(key),
    has: (f, key) => f.test(key),
  });
}

function count(c, set, list) {
  if (c.hasAll) return c.hasAll(set, list);
  let found = 0;
  for (const key of list) if (c.has(set, key)) found++;
  return found;
}

function add(c, set, list) {
  if (c.addAll) return c.addAll(set, list);
  for (const key of list) c.add(set, key);
  return undefined;
}

// What a full set holds; for deja, what the library reports.
function footprint(c, list) {
  const before = held();
  const set = c.make();
  add(c, set, list);
  if (c.bytes) return c.bytes(set) / n;
  const own = held() - before;
  // A Set keeps the strings of its keys, which it shares with the array of keys here.
  const strings = c.copies ? keys.reduce((sum, key) => sum + 16 + key.length, 0) : 0;
  if (!c.has(set, list[0])) throw new Error(`${c.name} lost a key`); // also keeps it from being collected
  return (own + strings) / n;
}

function measure(c) {
  const mine = c.prepare ? c.prepare(keys) : keys;
  const strange = c.prepare ? c.prepare(others) : others;
  const best = { add: Infinity, hit: Infinity, miss: Infinity };
  const bytes = globalThis.gc || c.bytes ? footprint(c, mine) : NaN;
  let wrong = 0;
  for (let round = 0; round < (c.slow ? 1 : ROUNDS); round++) {
    const set = c.make();
    best.add = Math.min(best.add, timed(() => add(c, set, mine)).ns);
    const hit = timed(() => count(c, set, mine));
    if (hit.result !== n) throw new Error(`${c.name} lost ${n - hit.result} keys`);
    const miss = timed(() => count(c, set, strange));
    wrong = miss.result / n;
    best.hit = Math.min(best.hit, hit.ns);
    best.miss = Math.min(best.miss, miss.ns);
  }
  return { name: c.name, ...best, wrong, bytes };
}

console.log(`deja ${version} (${simd}), Node.js ${process.version}, ${n} keys, rate ${RATE}; ns of CPU time per key`);
console.log('| | add | look up, seen | look up, new | rate | bytes per key |');
console.log('|---|---|---|---|---|---|');
for (const c of contenders) {
  const r = measure(c);
  console.log(`| ${r.name} | ${r.add.toFixed(0)} | ${r.hit.toFixed(0)} | ${r.miss.toFixed(0)} | ${r.wrong.toFixed(4)} | ${r.bytes.toFixed(2)} |`);
}
