'use strict';
// seen - SeenRequests around a queue that behaves like Crawlee's, without Crawlee (crawlee_long has it).

const { test } = require('node:test');
const assert = require('node:assert/strict');
const { SeenRequests } = require(process.env.SOURCE + '/node/crawlee.js');
const { Filter } = require(process.env.SOURCE + '/node');

class Request {
  constructor({ url, uniqueKey = url, ...rest }) {
    Object.assign(this, { url, uniqueKey, ...rest });
  }
}

class Queue {
  constructor() {
    this.known = new Map();
    this.waiting = [];
    this.handled = [];
    this.internalTimeoutMillis = 1;
  }
  async addRequest(source) {
    const request = new Request(source);
    const present = this.known.has(request.uniqueKey);
    if (!present) this.waiting.push(request);
    this.known.set(request.uniqueKey, request);
    return { uniqueKey: request.uniqueKey, wasAlreadyPresent: present, wasAlreadyHandled: false, requestId: 'id' };
  }
  async addRequestsBatched(sources) {
    const all = [];
    for await (const s of sources) all.push(await this.addRequest(typeof s === 'string' ? { url: s } : s));
    return { addedRequests: all.slice(0, 2), waitForAllRequestsToBeAdded: Promise.resolve(all.slice(2)), requestsOverLimit: [] };
  }
  async fetchNextRequest() { return this.waiting.shift() ?? null; }
  async markRequestHandled(request) { this.handled.push(request.uniqueKey); return { requestId: 'id' }; }
  async reclaimRequest(request) { this.waiting.push(request); }
  async isEmpty() { return this.waiting.length === 0; }
}

async function visit(seen, urls, options = {}, outcome = () => undefined) {
  const inner = new Queue();
  const queue = seen.wrap(inner, { Request, ...options });
  const added = await queue.addRequestsBatched(urls);
  const visited = [];
  for (let request; (request = await queue.fetchNextRequest()); ) {
    visited.push(request.url);
    request.state = outcome(request);
    await queue.markRequestHandled(request);
  }
  return { visited, added, inner, queue };
}

test('a request is dropped after it was handled, in every later run', async () => {
  const urls = ['http://a/1', 'http://a/2', { url: 'http://a/3' }];
  let seen = new SeenRequests('seen.deja');
  assert.deepEqual((await visit(seen, urls)).visited, ['http://a/1', 'http://a/2', 'http://a/3']);
  const again = await visit(seen, [...urls, 'http://a/4']);
  assert.deepEqual(again.visited, ['http://a/4']);
  assert.equal(again.inner.known.size, 1, 'the queue does not hold what was dropped');
  const all = [...again.added.addedRequests, ...(await again.added.waitForAllRequestsToBeAdded)];
  assert.equal(all.length, 4);
  assert.deepEqual(all.filter((info) => info.wasAlreadyHandled).map((info) => info.uniqueKey), ['http://a/1', 'http://a/2', 'http://a/3']);
  // As Crawlee computes it: the first 15 characters of the SHA-256 in base64, without +, / and =.
  assert.equal(all.find((info) => info.uniqueKey === 'http://a/1').requestId, 'klsLCWmANK86QwM');
  seen.close();
  seen = new SeenRequests('seen.deja');
  assert.deepEqual((await visit(seen, urls)).visited, []);
  assert.deepEqual(seen.counts, { offered: 3, dropped: 3, recorded: 0 });
  seen.rotate();
  assert.equal((await visit(seen, urls)).visited.length, 3);
  seen.close();
});

test('a request counts only once it was handled', async () => {
  const seen = new SeenRequests('handled.deja', { syncSeconds: 0 });
  const queue = seen.wrap(new Queue(), { Request });
  await queue.addRequest({ url: 'http://a/1' });
  const request = await queue.fetchNextRequest();
  assert.equal(seen.has(request), false);
  await queue.reclaimRequest(request);
  assert.equal(seen.has(request), false);
  assert.equal(await queue.fetchNextRequest(), request);
  await queue.markRequestHandled(request);
  assert.equal(seen.has('http://a/1'), true);
  const dropped = await queue.addRequest({ url: 'http://a/1' }, { forefront: true });
  assert.equal(dropped.wasAlreadyHandled, true);
  assert.equal(dropped.forefront, true);
  seen.close();
});

test('requests that failed for good are tried again, unless asked otherwise', async () => {
  for (const failed of [false, true]) {
    const seen = new SeenRequests(new Filter({ capacity: 100 }), { failed });
    for (const state of [5, 6, 7]) {
      await visit(seen, [`http://a/${state}`], {}, () => state);
      assert.equal(seen.has(`http://a/${state}`), failed);
    }
    await visit(seen, ['http://a/ok'], {}, () => 3);
    assert.equal(seen.has('http://a/ok'), true);
  }
});

test('entry points are visited again', async () => {
  const seen = new SeenRequests(new Filter({ capacity: 100 }));
  const again = (request) => request.url === 'http://a/';
  for (let i = 0; i < 2; i++) {
    const { visited } = await visit(seen, ['http://a/', 'http://a/1'], { again });
    assert.deepEqual(visited, i ? ['http://a/'] : ['http://a/', 'http://a/1']);
  }
});

test('a queue with requests that were handled before gives the others', async () => {
  const seen = new SeenRequests(new Filter({ capacity: 100 }));
  seen.record('http://a/1');
  const inner = new Queue();
  for (const n of [1, 2]) await inner.addRequest({ url: `http://a/${n}` });
  const queue = seen.wrap(inner, { Request });
  const visited = [];
  for await (const request of queue) visited.push(request.url);
  assert.deepEqual(visited, ['http://a/2']);
  assert.deepEqual(inner.handled, ['http://a/1']);
});

test('the rest of the queue shows through', async () => {
  const seen = new SeenRequests(new Filter({ capacity: 100 }));
  const inner = new Queue();
  const queue = seen.wrap(inner, { Request });
  queue.internalTimeoutMillis = 5;
  assert.equal(inner.internalTimeoutMillis, 5);
  assert.equal(await queue.isEmpty(), true);
  assert.ok(queue instanceof Queue);
  inner.name = 'default';
  assert.equal(queue.name, undefined);
});

test('wrong arguments', () => {
  assert.throws(() => new SeenRequests(), TypeError);
  assert.throws(() => new SeenRequests('x.deja', { failed: 1 }), TypeError);
  assert.throws(() => new SeenRequests('x.deja', { syncSeconds: -1 }), TypeError);
  assert.throws(() => new SeenRequests('x.deja', { again: 1 }), TypeError);
  const seen = new SeenRequests(new Filter({ capacity: 10 }));
  for (const wrong of [undefined, null, {}, 'queue']) assert.throws(() => seen.wrap(wrong), TypeError);
  assert.throws(() => seen.wrap(new Queue(), { again: true }), TypeError);
});

test('a new file is small, unless a capacity is given', () => {
  const small = new SeenRequests('small.deja');
  assert.ok(small.filter.stats().bytes < 1e6);
  small.close();
  const large = new SeenRequests('large.deja', { capacity: 1e6 });
  assert.equal(large.filter.stats().capacity, 1e6);
  large.close();
  const again = new SeenRequests('large.deja');
  assert.equal(again.filter.stats().capacity, 1e6);
  again.close();
});

test('keys can be compared as URLs', async () => {
  const seen = new SeenRequests('urls.deja', { url: 'crawl' });
  await visit(seen, ['http://a.example/?b=1&a=2&utm_source=x']);
  assert.deepEqual((await visit(seen, ['http://A.example/?a=2&b=1', 'http://a.example/?a=3'])).visited, ['http://a.example/?a=3']);
  seen.close();
});
