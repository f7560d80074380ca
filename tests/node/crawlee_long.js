'use strict';
// crawlee_long - the newest Crawlee with deja/crawlee: each page once, kill -9 and resume, later visits.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const { test, after } = require('node:test');
const { install } = require('./npm.js');

const PAGES = 300;
const SITE = __dirname + '/crawlee_site.js';

install('@crawlee/cheerio@3');

const served = [];
const server = spawn(process.execPath, [SITE, 'serve', String(PAGES)], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = new Promise((resolve) => {
  createInterface({ input: server.stdout }).on('line', (line) => {
    if (line.startsWith('http')) resolve(line);
    else served.push(line);
  });
});
after(() => server.kill());

// Runs a crawl; stop(handled) may end it with kill -9.  Returns what was handled.
async function crawl({ slow = false, env = {}, stop = () => false } = {}) {
  const child = spawn(process.execPath, [SITE, 'crawl', await address, slow ? 'slow' : 'fast'],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const handled = [];
  let counts = null;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('handled ')) handled.push(line.slice(8));
    if (line.startsWith('counts ')) counts = JSON.parse(line.slice(7));
    if (stop(handled)) child.kill('SIGKILL');
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, handled, counts };
}

test('a crawl that is killed resumes; no page is lost, few are repeated', async () => {
  const first = await crawl({ slow: true, stop: (handled) => handled.length >= 40 });
  assert.notEqual(first.code, 0);
  const second = await crawl({ slow: true, stop: (handled) => handled.length >= 40 });
  assert.notEqual(second.code, 0);
  const third = await crawl();
  assert.equal(third.code, 0);
  const all = [...first.handled, ...second.handled, ...third.handled];
  assert.equal(new Set(all).size, PAGES, 'every page was handled');
  assert.ok(all.length <= PAGES + 20, `${all.length - PAGES} pages were repeated`);
});

test('the next run visits nothing, or only its entry points', async () => {
  served.length = 0;
  const none = await crawl();
  assert.deepEqual([none.code, none.handled], [0, []]);
  assert.deepEqual(served, []);
  assert.deepEqual(none.counts, { offered: 1, dropped: 1, recorded: 0 });
  const entry = await crawl({ env: { AGAIN: '1', ROTATE: '1' } });
  assert.deepEqual(entry.handled, ['/0']);
});

test('after rotate, each page is visited again, once', async () => {
  served.length = 0;
  const { code, handled, counts } = await crawl();
  assert.equal(code, 0);
  assert.equal(handled.length, PAGES);
  assert.equal(new Set(handled).size, PAGES);
  assert.equal(served.length, PAGES, 'no page was fetched twice');
  assert.equal(counts.recorded, PAGES);
});
