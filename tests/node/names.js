'use strict';
// names - the types list every option of the library, every method and every public name.

const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const deja = require(process.env.SOURCE + '/node');
const { TABLE } = require(process.env.SOURCE + '/node/lib/options.js');

const types = fs.readFileSync(process.env.SOURCE + '/node/index.d.ts', 'utf8');
const block = (name) => types.slice(types.indexOf(name)).split('\n}')[0];

test('LibraryOptions has each row of the option table, and no other', () => {
  const listed = [...block('interface LibraryOptions').matchAll(/^ {2}(\w+)\?:/gm)].map((m) => m[1]);
  assert.deepEqual(listed.sort(), TABLE.map((row) => row.name).sort());
});

test('Stats and BodyStats have each field', () => {
  const fields = (name) => [...block(name).matchAll(/^ {2}(\w+):/gm)].map((m) => m[1]);
  const f = new deja.Filter({ capacity: 10 });
  assert.deepEqual(fields('interface Stats').sort(), Object.keys(f.stats()).sort());
  assert.deepEqual([...fields('interface Stats'), ...fields('interface BodyStats')].sort(), Object.keys(f.stats({ body: true })).sort());
});

test('every public name and method is declared', () => {
  for (const name of Object.keys(deja)) {
    assert.match(types, new RegExp(`export (class|function|const) ${name}\\b`), name);
  }
  const filter = block('export class Filter');
  for (const name of Object.getOwnPropertyNames(deja.Filter.prototype)) {
    if (name !== 'constructor') assert.match(filter, new RegExp(`\\b${name}[(:]`), name);
  }
  for (const name of ['open', 'create', 'build', 'fromBytes', 'like']) assert.match(filter, new RegExp(`static ${name}\\(`));
  assert.equal(deja.Filter.stream, undefined);
});

test('the module can be imported by name', async () => {
  const names = await import(process.env.SOURCE + '/node/index.js');
  for (const name of Object.keys(deja)) assert.equal(names[name], deja[name], name);
  assert.equal(typeof (await import(process.env.SOURCE + '/node/crawlee.js')).SeenRequests, 'function');
});
