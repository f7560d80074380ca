'use strict';
// dedup: a Transform stream that passes each line the first time it is seen.
//
// A line counts as seen only after it has been handed over: its key is recorded when everything that
// this stream passed on has been read by the next one and, if there is a destination, written by it.
// A crash, an error or an early close before that repeats lines but never loses one.

const { Transform } = require('node:stream');
const { wrongType } = require('./errors.js');
const { Filter, stream } = require('./filter.js');
const { split } = require('./options.js');

const MOST_PENDING = 65536; // keys; beyond it, the stream waits until they can be recorded
const NEWLINE = 10;
const RETRY_MS = 5;

class Dedup extends Transform {
  #filter;
  #owned;
  #lines;
  #destination;
  #rest = []; // pieces of a line that has not ended
  #timer;
  #counts = { bytes: 0, kept: 0 };

  constructor(filter, owned, destination, streamOptions) {
    super(streamOptions);
    this.#filter = filter;
    this.#owned = owned;
    this.#destination = destination;
    this.#lines = stream(filter);
  }

  // The filter of the lines.  (`filter` is a method of every stream.)
  get seen() {
    return this.#filter;
  }

  get counts() {
    return { ...this.#counts };
  }

  #handedOver() {
    return this.readableLength === 0 && (!this.#destination || this.#destination.writableLength === 0);
  }

  #commit() {
    this.#counts.kept += this.#lines.commit();
  }

  // Calls back when the keys so far are recorded or there is still room for more.
  #settle(callback) {
    if (this.destroyed) return;
    if (this.#handedOver()) this.#commit();
    if (this.#lines.pending() < MOST_PENDING) callback();
    else this.#timer = setTimeout(() => this.#attempt(callback, () => this.#settle(callback)), RETRY_MS);
  }

  #attempt(callback, step) {
    try {
      step();
    } catch (error) {
      callback(error);
    }
  }

  #judge(lines) {
    this.#counts.bytes += lines.length;
    const fresh = this.#lines.judge(lines);
    if (fresh.length) this.push(fresh);
  }

  // Takes the complete lines of a chunk, with what was left of the one before.
  #complete(chunk) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      this.#rest.push(chunk);
      return undefined;
    }
    const lines = this.#rest.length ? Buffer.concat([...this.#rest, chunk.subarray(0, end)]) : chunk.subarray(0, end);
    this.#rest = end < chunk.length ? [chunk.subarray(end)] : [];
    return lines;
  }

  _transform(chunk, encoding, callback) {
    this.#attempt(callback, () => {
      const lines = this.#complete(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
      this.#settle(() => {
        this.#attempt(callback, () => {
          if (lines) this.#judge(lines);
          callback();
        });
      });
    });
  }

  _flush(callback) {
    this.#attempt(callback, () => {
      if (this.#rest.length) this.#judge(Buffer.concat(this.#rest));
      this.#rest = [];
      callback();
    });
    this.#whenFinished();
  }

  // After the end: everything was read and, with a destination, written.
  #whenFinished() {
    const done = () => this.#attempt((error) => this.#report(error), () => this.#finish());
    if (this.#destination) this.#destination.once('finish', done);
    else this.once('end', done);
  }

  #report(error) {
    if (this.destroyed) process.emitWarning(error); // nobody listens for errors any more
    else this.destroy(error);
  }

  #finish() {
    if (!this.#lines) return;
    this.#commit();
    this.#close();
    this.emit('committed');
  }

  #close() {
    const lines = this.#lines;
    this.#lines = undefined;
    lines.end();
    if (this.#owned) this.#filter.close();
    else this.#filter.sync();
  }

  _destroy(error, callback) {
    clearTimeout(this.#timer);
    // A destination that is still writing decides what was handed over.
    const waits = !error && this.readableEnded && this.#destination && !this.#destination.destroyed;
    let failed = error;
    if (waits) this.#destination.once('close', () => this.#lines && this.#close());
    else if (this.#lines) {
      try {
        this.#close();
      } catch (closing) {
        failed ??= closing;
      }
    }
    callback(failed);
  }
}

// options: those of a filter, with `path` for a file that is kept between runs; or `filter`, which is
// then used by the stream alone and stays open.
function dedup(options) {
  const { own, others } = split(options, ['path', 'filter', 'destination', 'grow', 'highWaterMark']);
  const { path, filter, destination, grow, highWaterMark } = others;
  if (filter !== undefined && !(filter instanceof Filter)) throw wrongType('filter', 'a Filter', filter);
  if (destination !== undefined && typeof destination?.write !== 'function') {
    throw wrongType('destination', 'a Writable stream', destination);
  }
  let used = filter;
  if (!used) {
    const chosen = { ...own, grow };
    if (!own.url) delete chosen.url;
    used = path === undefined ? new Filter(chosen) : Filter.open(path, chosen);
  }
  try {
    return new Dedup(used, !filter, destination, { highWaterMark });
  } catch (error) {
    if (!filter) used.close();
    throw error;
  }
}

module.exports = { Dedup, dedup };
