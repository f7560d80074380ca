'use strict';
// urls - canonical forms, and filters that compare them.

const { test } = require('node:test');
const assert = require('node:assert/strict');
const { Filter, canonicalize, resolve, layers, expressions } = require(process.env.SOURCE + '/node');

test('profiles', () => {
  assert.equal(canonicalize('HTTP://Example.com:80/a/../b#top'), 'http://example.com/b');
  assert.equal(canonicalize('http://a.example/?utm_source=x&b=1&a=2', 'crawl'), 'http://a.example/?a=2&b=1');
  const own = { profile: 'crawl', drop: ['ref'], keep: ['utm_*'] };
  assert.equal(canonicalize('http://a.example/?utm_source=x&ref=y', own), 'http://a.example/?utm_source=x');
  assert.equal(canonicalize('http://a.example/?utm_source=x&ref=y', { drop: ['ref'], builtin: false }), 'http://a.example/?utm_source=x');
  assert.throws(() => canonicalize('no URL'), { code: 'DEJA_ENOTURL' });
  const long = 'http://a.example/' + 'x'.repeat(100000);
  assert.equal(canonicalize(long), long);
});

test('parts of URLs', () => {
  assert.equal(resolve('http://example.com/a/b', '../c?d#e'), 'http://example.com/c?d#e');
  assert.deepEqual(layers('http://example.com/a/b?c=/d'), ['http://example.com', '/a', '/b?c=/d']);
  assert.deepEqual(expressions('http://a.example/b/c?d'), ['a.example/b/c?d', 'a.example/b/c', 'a.example/b/', 'a.example/']);
});

test('a filter with a profile compares forms', async () => {
  const f = new Filter({ capacity: 10000, url: 'safe' });
  assert.equal(f.add('http://A.example:80/'), true);
  assert.equal(f.add('http://a.example'), false);
  assert.deepEqual(f.addMany(['HTTP://a.example/#x', 'http://b.example']), Uint8Array.of(0, 1));
  assert.deepEqual(f.hasMany(Buffer.from('http://B.example/\nhttp://c.example')), Uint8Array.of(1, 0));
  assert.deepEqual(await f.hasManyAsync(['http://B.example/']), Uint8Array.of(1));
  assert.equal(f.notUrls, 0);
  assert.equal(f.add('not a URL'), true);
  assert.equal(f.has('not a URL'), true);
  assert.equal(f.notUrls, 2);
  const urls = Array.from({ length: 9000 }, (_, i) => `http://Host${i}.example:80/`);
  assert.ok(f.addMany(urls).every((isNew) => isNew === 1));
  assert.ok(f.hasMany(urls.map((u) => u.toLowerCase().replace(':80/', ''))).every((found) => found === 1));
  const long = ['http://a.example/' + 'y'.repeat(3000000), 'http://A.example/z'];
  assert.deepEqual(f.addMany(long), Uint8Array.of(1, 1), 'a URL that needs more room');
  assert.deepEqual(f.hasMany(long), Uint8Array.of(1, 1));
});

test('a block list finds everything under an entry', async () => {
  const f = new Filter({ capacity: 10000, url: 'gsb' });
  f.addMany(['http://bad.example/', 'http://worse.example/x/', 'mailto:x@y']);
  const asked = ['http://www.bad.example/any?thing', 'http://worse.example/', 'http://worse.example/x/y', 'mailto:x@y'];
  assert.deepEqual(f.hasMany(asked), Uint8Array.of(1, 0, 1, 0));
  assert.deepEqual(await f.hasManyAsync(asked), Uint8Array.of(1, 0, 1, 0));
  assert.equal(f.has(asked[0]), true);
  const many = Array.from({ length: 1000 }, (_, i) => `http://${i % 3 ? 'bad' : 'good'}.example/${i}/a/b/c?d=${i}`);
  assert.deepEqual([...f.hasMany(many)], many.map((_, i) => (i % 3 ? 1 : 0)));
});

test('a file remembers its profile', () => {
  Filter.create('urls.deja', { capacity: 100, url: 'crawl' }).close();
  const f = Filter.open('urls.deja');
  f.add('http://a.example/?b=1&a=2');
  assert.equal(f.has('http://a.example/?a=2&b=1&utm_source=x'), true);
  f.close();
  const own = { profile: 'crawl', drop: ['ref'] };
  Filter.create('own.deja', { capacity: 100, url: own }).close();
  assert.throws(() => Filter.open('own.deja'), { code: 'DEJA_EMISMATCH', message: /other rules for profile crawl: pass the same url/ });
  const opened = Filter.open('own.deja', { url: own });
  opened.add('http://a.example/?ref=1');
  assert.equal(opened.has('http://a.example/?ref=2'), true);
  assert.throws(() => opened.save('copy.deja'), { code: 'DEJA_ENOTSUP' });
});
