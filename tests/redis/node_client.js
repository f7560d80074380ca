// node_client.js PORT RESP - every bf helper of node-redis, on a server with the module.
//
// Run by node_long.py where the packages redis and @redis/bloom are installed, for protocol 2 and
// 3.  The helpers are used as their own documentation does; assertions are on what they return.
'use strict';
const assert = require('node:assert/strict');
const { createClient, RESP_TYPES } = require('redis');

const [port, RESP] = process.argv.slice(2).map(Number);
const client = createClient({ socket: { host: '127.0.0.1', port }, RESP });
const bf = client.bf;
const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });

async function makesAndAdds() {
    assert.equal(await bf.reserve('plain', 0.01, 1000), 'OK');
    assert.equal(await bf.reserve('grows', 0.01, 1000, { EXPANSION: 4 }), 'OK');
    assert.equal(await bf.reserve('fixed', 0.01, 2, { NONSCALING: true }), 'OK');
    assert.equal(await bf.add('plain', 'foo'), true);
    assert.equal(await bf.add('plain', 'foo'), false);
    assert.deepEqual(await bf.mAdd('plain', ['foo', 'bar', 'baz']), [false, true, true]);
    assert.deepEqual(await bf.insert('made', ['a', 'b']), [true, true]);
    assert.deepEqual(await bf.insert('made', ['a', 'c'], { NOCREATE: true }), [false, true]);
    assert.deepEqual(
        await bf.insert('sized', ['1'], { CAPACITY: 1000, ERROR: 0.001, EXPANSION: 8 }), [true]);
    assert.deepEqual(await bf.insert('still', ['1'], { CAPACITY: 10, NONSCALING: true }), [true]);
    assert.equal(await bf.add('made by add', 'x'), true);
}

async function answers() {
    assert.equal(await bf.exists('plain', 'foo'), true);
    assert.equal(await bf.exists('plain', 'never'), false);
    assert.equal(await bf.exists('nobody', 'foo'), false);
    assert.deepEqual(await bf.mExists('plain', ['foo', 'never', 'baz']), [true, false, true]);
    assert.equal(await bf.card('plain'), 3);
    assert.equal(await bf.card('nobody'), 0);
}

async function informs() {
    const info = await bf.info('plain');
    assert.equal(info['Capacity'], 1000);
    assert.ok(info['Size'] > 1000);
    assert.equal(info['Number of filters'], 1);
    assert.equal(info['Number of items inserted'], 3);
    assert.equal(info['Expansion rate'], 2);
    assert.equal((await bf.info('grows'))['Expansion rate'], 4);
    assert.equal((await bf.info('sized'))['Expansion rate'], 8);
    assert.equal((await bf.info('fixed'))['Expansion rate'], null);
    assert.equal((await bf.info('still'))['Capacity'], 10);
}

async function dumpsAndLoads() {
    const items = Array.from({ length: 3000 }, (_, i) => `item ${i}`);
    await bf.mAdd('grows', items);
    const chunks = [];
    for (let at = 0;;) {
        const { iterator, chunk } = await bytes.bf.scanDump('grows', at);
        if (iterator === 0)
            break;
        chunks.push([iterator, chunk]);
        at = iterator;
    }
    assert.ok(chunks.length > 1);
    for (const [iterator, chunk] of chunks)
        assert.equal(await bf.loadChunk('loaded', iterator, chunk), 'OK');
    assert.ok((await bf.mExists('loaded', items)).every((found) => found === true));
    assert.deepEqual(await bf.info('loaded'), await bf.info('grows'));
}

async function refuses() {
    await assert.rejects(bf.reserve('plain', 0.01, 1000), /ERR item exists/);
    await assert.rejects(bf.reserve('x', 2, 1000), /ERR error rate must be in the range/);
    await assert.rejects(bf.reserve('x', 0.01, 0), /ERR capacity must be in the range/);
    await assert.rejects(bf.info('nobody'), /ERR not found/);
    await assert.rejects(bf.insert('nobody', ['a'], { NOCREATE: true }), /ERR not found/);
    await assert.rejects(bf.loadChunk('x', 1, 'garbage'), /ERR received bad data/);
    await bf.mAdd('fixed', ['a', 'b']);
    await assert.rejects(bf.add('fixed', 'c'), /ERR non scaling filter is full/);
    await client.set('text', 'x');
    await assert.rejects(bf.add('text', 'a'), /WRONGTYPE/);
}

async function goesThroughTransactions() {
    assert.deepEqual(
        await client.multi().bf.add('multi', 'a').bf.exists('multi', 'a').bf.card('multi').exec(),
        [true, true, 1]);
}

(async () => {
    await client.connect();
    await client.flushAll();
    for (const test of [makesAndAdds, answers, informs, dumpsAndLoads, refuses,
                        goesThroughTransactions]) {
        await test();
        console.log(`ok ${test.name} RESP${RESP}`);
    }
    const used = ['add', 'card', 'exists', 'info', 'insert', 'loadChunk', 'mAdd', 'mExists',
                  'reserve', 'scanDump'];
    const { default: modules } = require('@redis/bloom');
    const offered = Object.keys(modules.bf).filter((name) => /^[a-z]/.test(name)).sort();
    assert.deepEqual(offered, used, 'a helper that is not tested here');
    client.destroy();
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
