'use strict';
// streams - dedup() passes new lines, records them once they were handed over, and survives early ends.

const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { Readable, Writable } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const { setTimeout: sleep } = require('node:timers/promises');
const { Filter, dedup } = require(process.env.SOURCE + '/node');

const collect = async (stream) => Buffer.concat(await stream.toArray()).toString();
const chunks = (text, size) => Readable.from((function* () {
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
})());

test('new lines come out in order, whatever the chunks', async () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `line ${(i * 7919) % 1000} é`);
  const expected = [...new Set(lines)].join('\n') + '\n';
  for (const size of [1, 3, 64, 1000, 1e6]) {
    assert.equal(await collect(chunks(lines.join('\n'), size).pipe(dedup({ capacity: 2000, seed: 1 }))), expected);
  }
  assert.equal(await collect(Readable.from(['a\n', 'b', '\na\n', '']).pipe(dedup())), 'a\nb\n');
  assert.equal(await collect(Readable.from([]).pipe(dedup())), '');
  assert.equal(await collect(Readable.from(['\n\n']).pipe(dedup())), '\n');
});

test('lines are compared as URLs with a profile', async () => {
  const text = 'http://A.example/\nhttp://a.example\n' + 'http://b.example/' + 'x'.repeat(500000) + '\nno URL\nno URL\n';
  assert.equal((await collect(Readable.from([text]).pipe(dedup({ url: 'safe' })))).length, text.length - 24);
  assert.throws(() => dedup({ url: 'gsb' }), { code: 'DEJA_ENOTSUP' });
  assert.throws(() => dedup({ kind: 'static', capacity: 10 }), { name: 'DejaError' });
});

test('a state is kept between runs', async () => {
  assert.equal(await collect(Readable.from(['a\nb\n']).pipe(dedup({ path: 'state.deja' }))), 'a\nb\n');
  assert.equal(await collect(Readable.from(['b\nc\n']).pipe(dedup({ path: 'state.deja' }))), 'c\n');
});

test('a slow reader holds the stream back', async () => {
  let produced = 0;
  const source = new Readable({
    read() {
      this.push(produced < 400 ? Buffer.from(Array.from({ length: 400 }, (_, i) => `${produced * 400 + i}\n`).join('')) : null);
      produced++;
    },
  });
  const stream = dedup({ capacity: 200000, seed: 3 });
  source.pipe(stream);
  stream.once('readable', () => {});
  await sleep(100);
  assert.ok(produced < 200, `${produced} chunks were read while nobody took any`);
  assert.equal((await collect(stream)).split('\n').length, 160001);
});

test('lines that were not handed over are not recorded', async () => {
  const stream = dedup({ path: 'early.deja', capacity: 1000 });
  stream.write('a\nb\n');
  stream.write('c\nd\n'); // a and b are still in the stream
  await sleep(20);
  stream.destroy();
  await sleep(20);
  assert.equal(await collect(Readable.from(['a\nb\nc\nd\n']).pipe(dedup({ path: 'early.deja' }))), 'a\nb\nc\nd\n');
});

test('an error at the destination repeats lines', async () => {
  async function* lines() {
    for (const line of ['a\n', 'b\n', 'c\n', 'd\n']) {
      yield line;
      await sleep(1);
    }
  }
  const source = () => Readable.from(lines());
  // With much room, lines wait in the destination; with little, they wait in the stream.
  for (const [fails, highWaterMark] of [[true, 1 << 20], [true, 1], [false, 1]]) {
    const written = [];
    const destination = new Writable({
      highWaterMark,
      write(chunk, encoding, callback) {
        setTimeout(() => {
          if (fails && written.length === 2) return callback(new Error('disk full'));
          written.push(...chunk.toString().trimEnd().split('\n'));
          callback();
        }, 5);
      },
    });
    const path = fails ? `failing${highWaterMark}.deja` : 'failing1.deja';
    const stream = dedup({ path, destination, capacity: 1000, seed: 4 });
    const done = pipeline(source(), stream, destination);
    if (!fails) {
      await done;
      await sleep(10);
      continue;
    }
    await assert.rejects(done, /disk full/);
    await sleep(10);
    const seen = Filter.open(path, { mode: 'r' });
    for (const line of ['a', 'b', 'c', 'd']) {
      assert.ok(written.includes(line) || !seen.has(line), `${line} was lost`);
    }
    seen.close();
  }
  const seen = Filter.open('failing1.deja', { mode: 'r' });
  assert.deepEqual(seen.hasMany(['a', 'b', 'c', 'd']), Uint8Array.of(1, 1, 1, 1));
});

test('a finished pipeline has recorded everything', async () => {
  const text = Array.from({ length: 200000 }, (_, i) => `${i % 150000}\n`).join('');
  fs.writeFileSync('in', text);
  const destination = fs.createWriteStream('out');
  const stream = dedup({ path: 'file.deja', destination, capacity: 150000, seed: 5 });
  let committed = false;
  stream.on('committed', () => { committed = true; });
  await pipeline(fs.createReadStream('in'), stream, destination);
  assert.ok(committed);
  assert.equal(fs.readFileSync('out', 'utf8'), text.slice(0, fs.statSync('out').size));
  const seen = Filter.open('file.deja');
  assert.equal(seen.size, 150000);
  seen.close();
});

test('a filter of yours is locked meanwhile and stays open', async () => {
  const filter = new Filter({ capacity: 100 });
  filter.add('a');
  const stream = dedup({ filter });
  assert.throws(() => filter.add('b'), { code: 'DEJA_EBUSY', message: /dedup stream/ });
  assert.throws(() => filter.close(), { code: 'DEJA_EBUSY' });
  assert.throws(() => dedup({ filter }), { code: 'DEJA_EBUSY' });
  assert.equal(filter.has('a'), true);
  assert.equal(await collect(Readable.from(['a\nb\n']).pipe(stream)), 'b\n');
  assert.equal(filter.add('b'), false);
  filter.close();
});
