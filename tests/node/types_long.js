'use strict';
// types_long - the TypeScript compiler accepts a program that uses every part, and refuses wrong ones.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { spawnSync } = require('node:child_process');
const { test } = require('node:test');
const { install } = require('./npm.js');

install('typescript@5', '@types/node@22');
fs.symlinkSync(process.env.SOURCE + '/node', 'node_modules/deja');

const SAMPLE = `
import { Filter, DejaError, dedup, canonicalize, plan, verify, guardFiles, resolve, layers, expressions, version, simd } from 'deja';
import type { BodyStats, Plan, Stats } from 'deja';
import { SeenRequests } from 'deja/crawlee';

const f = new Filter({ capacity: 1e6, fpRate: 1e-4, url: { profile: 'crawl', drop: ['ref'] }, seed: 5n });
const isNew: boolean = f.add('http://example.com/');
const many: Uint8Array = f.addMany(['a', Buffer.from('b')]);
const s: Stats = f.stats();
const b: BodyStats = f.stats({ body: true });
const p: Plan = plan({ capacity: 10n, kind: 'exact' });
const texts: string[] = [canonicalize('http://a/', 'safe'), resolve('http://a/', 'b'), ...layers('http://a/'), ...expressions('http://a/'), version, simd];
async function later() {
  const counts: BigUint64Array = await f.countManyAsync(new Set(['a']));
  process.stdin.pipe(dedup({ path: 'state.deja', destination: process.stdout })).pipe(process.stdout);
  const opened = Filter.open('x.deja', { mode: 'r' });
  opened.merge(Filter.like(f)).fold().rotate({ capacity: 5 }).save('y.deja', { replace: true }).close();
  return counts;
}
try { verify('x'); guardFiles(); } catch (e) { if (e instanceof DejaError && e.code === 'DEJA_EINVAL') console.log(e.system, e.done); }
{ using g = new Filter(); g.add('x'); }
class Queue { own = 1; async fetchNextRequest() { return null; } async markRequestHandled(r: object) {} }
const seen = new SeenRequests('seen.deja', { failed: true });
const queue: Queue = seen.wrap(new Queue(), { again: (r) => r.url.endsWith('/') });
console.log(isNew, many, s, b.fill, p.bytes, texts, later, queue.own);
`;
const WRONG = ["new Filter({ kind: 'nonsense' })", 'new Filter().add(5)', "new Filter({ fp_rate: 1 })", "canonicalize('x', 'y')",
  "new Filter().stats().fill", "Filter.open('x', { mode: 'q' })", "new SeenRequests(5)"];

function compile(name, text) {
  fs.writeFileSync(name, text);
  const done = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--module', 'nodenext',
    '--moduleResolution', 'nodenext', '--target', 'es2022', '--lib', 'es2022,esnext.disposable', '--types', 'node', name], { encoding: 'utf8' });
  return done.stdout;
}

test('a program that uses every part compiles', () => {
  assert.equal(compile('sample.ts', SAMPLE), '');
});

test('programs with wrong types do not', () => {
  const head = "import { Filter, canonicalize } from 'deja';\nimport { SeenRequests } from 'deja/crawlee';\n";
  const found = compile('wrong.ts', head + WRONG.join(';\n') + ';\nconsole.log(Filter, canonicalize, SeenRequests);\n');
  for (let i = 0; i < WRONG.length; i++) assert.match(found, new RegExp(`wrong\\.ts\\(${i + 3},`), `${WRONG[i]} compiled\n${found}`);
});
