'use strict';
// Filter: a set of keys in very little memory.

const util = require('node:util');
const { addon } = require('./addon.js');
const { DejaError, about, wrongType } = require('./errors.js');
const { createFlags, fileName, flag, openFlags } = require('./files.js');
const { RENEWABLE, split } = require('./options.js');

const DISPOSE = Symbol.dispose ?? Symbol.for('nodejs.dispose');
const ASYNC_DISPOSE = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');
const [ADD, HAS, REMOVE, COUNT] = [0, 1, 2, 3]; // enum node_verb
const MODES = ['a', 'r', 'r+', 'x', 'w'];
const DAY_MS = 86400000;
const OPENING = Symbol('opening'); // passes a finished handle to the constructor
let stream; // begins a dedup stream on a filter

// Arrays and Uint8Arrays go to the addon; other iterables become arrays.
function keysOf(keys) {
  if (keys instanceof Uint8Array && !util.types.isProxy(keys)) return keys;
  if (Array.isArray(keys) && !util.types.isProxy(keys)) return keys;
  if (typeof keys === 'string') {
    throw wrongType('keys', 'an array of keys or a Uint8Array of lines; use add, or Buffer.from(text)', keys);
  }
  if (keys !== null && typeof keys === 'object' && typeof keys[Symbol.iterator] === 'function') {
    return Array.from(keys);
  }
  throw wrongType('keys', 'an array of keys or a Uint8Array of lines', keys);
}

function dayOf(before) {
  if (!(before instanceof Date) || Number.isNaN(before.getTime())) throw wrongType('before', 'a valid Date', before);
  return Math.min(Math.max(Math.floor(before.getTime() / DAY_MS), 0), 65535);
}

class Filter {
  #handle;
  #path;
  #writable;
  #closed = false;
  #room = Infinity; // new keys until the size is checked again
  #running = new Set(); // promises of asynchronous calls

  constructor(options, opening) {
    if (opening?.[OPENING]) {
      this.#handle = opening.handle;
      this.#path = opening.path;
      this.#writable = opening.writable;
    } else {
      const { own, others } = split(options, ['grow']);
      this.#handle = addon.create(own, others.grow, undefined, 0);
      this.#writable = true;
    }
    this.#measureRoom();
  }

  static #of(handle, path, writable = true) {
    return new Filter(undefined, { [OPENING]: true, handle, path, writable });
  }

  static #try(path, call) {
    try {
      return call();
    } catch (error) {
      throw about(error, path);
    }
  }

  // --- Making and opening ---

  static open(path, options) {
    const name = fileName(path);
    const { own, others } = split(options, ['mode', 'grow', 'repair', 'permissions']);
    const { mode = 'a', repair, grow, permissions } = others;
    if (!MODES.includes(mode)) throw new DejaError(`mode must be one of ${MODES.join(', ')}, not ${String(mode)}`);
    if (mode !== 'x' && mode !== 'w') {
      try {
        return Filter.#of(addon.open(own, name, openFlags(mode !== 'r', repair)), name, mode !== 'r');
      } catch (error) {
        if (mode !== 'a' || error.system !== 'ENOENT') throw about(error, name);
      }
    }
    const flags = createFlags(name, mode === 'w', permissions);
    return Filter.#try(name, () => Filter.#of(addon.create(own, grow, name, flags), name));
  }

  static create(path, options) {
    const { replace, ...rest } = { ...options };
    return Filter.open(path, { ...rest, mode: flag('replace', replace) ? 'w' : 'x' });
  }

  static build(keys, options) {
    const { own, others } = split(options, ['path', 'replace', 'permissions']);
    const name = others.path === undefined ? undefined : fileName(others.path);
    const flags = createFlags(name, others.replace, others.permissions);
    const given = keysOf(keys);
    const list = given instanceof Uint8Array ? Filter.#lines(given) : given;
    return Filter.#try(name, () => Filter.#of(addon.build(own, list, name, flags), name));
  }

  static #lines(bytes) {
    const lines = [];
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(10, from);
      lines.push(bytes.subarray(from, end < 0 ? bytes.length : end));
      from = end < 0 ? bytes.length : end + 1;
    }
    return lines;
  }

  static fromBytes(bytes, options) {
    const { own } = split(options);
    return Filter.#of(addon.fromBytes(own, bytes));
  }

  static like(other, options) {
    const { others } = split(options, ['path', 'replace', 'permissions'], new Set());
    const name = others.path === undefined ? undefined : fileName(others.path);
    const flags = createFlags(name, others.replace, others.permissions);
    return Filter.#try(name, () => Filter.#of(addon.like(Filter.#handleOf(other), name, flags), name));
  }

  static #handleOf(other) {
    if (!(#handle in Object(other))) throw wrongType('other', 'a Filter', other);
    return other.#handle;
  }

  // --- One key ---

  add(key) {
    const isNew = addon.add(this.#handle, key);
    if (isNew && --this.#room < 0) this.#watch();
    return isNew;
  }

  has(key) {
    return addon.has(this.#handle, key);
  }

  remove(key) {
    return addon.remove(this.#handle, key);
  }

  count(key) {
    return addon.count(this.#handle, key);
  }

  hasPrefix(prefix) {
    return addon.prefix(this.#handle, prefix);
  }

  dates(key) {
    const days = addon.days(this.#handle, key);
    if (!days) return undefined;
    return { first: new Date(Math.floor(days / 65536) * DAY_MS), last: new Date((days % 65536) * DAY_MS) };
  }

  // --- Many keys ---

  #many(verb, keys) {
    const given = keysOf(keys);
    try {
      return addon.many(this.#handle, given, verb);
    } catch (error) {
      throw about(error, this.#path);
    }
  }

  async #manyAsync(verb, keys) {
    const promise = addon.manyAsync(this.#handle, keysOf(keys), verb);
    this.#running.add(promise);
    try {
      return await promise;
    } catch (error) {
      throw about(error, this.#path);
    } finally {
      this.#running.delete(promise);
    }
  }

  #added(answers) {
    this.#room -= answers.length;
    if (this.#room < 0) this.#watch();
    return answers;
  }

  addMany(keys) {
    return this.#added(this.#many(ADD, keys));
  }

  hasMany(keys) {
    return this.#many(HAS, keys);
  }

  removeMany(keys) {
    return this.#many(REMOVE, keys);
  }

  countMany(keys) {
    return this.#many(COUNT, keys);
  }

  async addManyAsync(keys) {
    return this.#added(await this.#manyAsync(ADD, keys));
  }

  async hasManyAsync(keys) {
    return this.#manyAsync(HAS, keys);
  }

  async removeManyAsync(keys) {
    return this.#manyAsync(REMOVE, keys);
  }

  async countManyAsync(keys) {
    return this.#manyAsync(COUNT, keys);
  }

  // --- Capacity ---

  #measureRoom() {
    const can = addon.can(this.#handle);
    if (!this.#writable || !can.includes('add') || can.includes('grow')) return undefined;
    const known = addon.stats(this.#handle, false);
    // In a window by time, a generation can get more than its share.
    const room = known.generations ? known.capacity / 8 : known.capacity - known.entries;
    this.#room = known.excess ? 0 : Math.max(Number(room), 1);
    return known;
  }

  // Warns once when a filter that does not grow passes its capacity.
  #watch() {
    if (this.#closed || addon.running(this.#handle)) return; // the next add checks
    const known = this.#measureRoom();
    if (!known?.excess) return;
    this.#room = Infinity;
    process.emitWarning(
      `${this.#path ?? 'the filter'} was sized for ${known.capacity} keys and now holds ${known.entries}: its ` +
        `rate is above ${known.fpRate} and rises with every key; use a larger capacity, or let it grow`,
      'DejaCapacityWarning');
  }

  // --- The whole filter ---

  stats(options) {
    const { others } = split(options, ['body'], new Set());
    return addon.stats(this.#handle, flag('body', others.body));
  }

  get capabilities() {
    return addon.can(this.#handle);
  }

  get size() {
    return addon.stats(this.#handle, false).keys;
  }

  get path() {
    return this.#path;
  }

  get closed() {
    return this.#closed;
  }

  get notUrls() {
    return addon.notUrls(this.#handle);
  }

  sync() {
    if (this.#path !== undefined && this.#writable) {
      Filter.#try(this.#path, () => addon.sync(this.#handle));
    } else {
      addon.running(this.#handle); // fails if it is closed
    }
  }

  merge(other) {
    const from = Filter.#handleOf(other);
    Filter.#try(this.#path, () => addon.merge(this.#handle, from));
    this.#measureRoom();
    return this;
  }

  overlap(other) {
    return addon.overlap(this.#handle, Filter.#handleOf(other));
  }

  fold(times = 1) {
    if (!Number.isInteger(times) || times < 1 || times > 64) {
      throw new DejaError(`times must be a whole number from 1 to 64, not ${String(times)}`);
    }
    Filter.#try(this.#path, () => addon.fold(this.#handle, times));
    this.#measureRoom();
    return this;
  }

  rotate(options) {
    const { own } = split(options, [], RENEWABLE);
    Filter.#try(this.#path, () => addon.rotate(this.#handle, own));
    this.#measureRoom();
    return this;
  }

  older(before) {
    return addon.older(this.#handle, dayOf(before));
  }

  expire(before) {
    return Filter.#try(this.#path, () => addon.expire(this.#handle, dayOf(before)));
  }

  save(path, options) {
    const name = fileName(path);
    const { others } = split(options, ['replace', 'permissions'], new Set());
    const flags = createFlags(name, others.replace, others.permissions);
    return Filter.#try(name, () => Filter.#of(addon.copy(this.#handle, name, flags), name));
  }

  toBytes() {
    return addon.toBytes(this.#handle);
  }

  // Closes even if the sync fails.
  close() {
    if (this.#closed) return;
    let failed;
    try {
      this.sync();
    } catch (error) {
      if (error.code === 'DEJA_EBUSY') throw error; // a call or a stream is still using it
      failed = error;
    }
    addon.close(this.#handle);
    this.#closed = true;
    if (failed) throw failed;
  }

  [DISPOSE]() {
    this.close();
  }

  async [ASYNC_DISPOSE]() {
    await Promise.allSettled([...this.#running]);
    this.close();
  }

  #describe() {
    const where = this.#path === undefined ? 'in memory' : this.#path;
    if (this.#closed) return `closed, ${where}`;
    if (addon.running(this.#handle)) return `in use, ${where}`;
    const s = addon.stats(this.#handle, false);
    const kind = s.partKind && s.partKind !== s.kind ? `${s.kind} ${s.partKind}` : s.kind;
    return `${kind}, ${s.keys} keys, rate ${s.fpRate}, ${where}`;
  }

  toString() {
    return `Filter(${this.#describe()})`;
  }

  get [Symbol.toStringTag]() {
    return 'Filter';
  }

  [util.inspect.custom]() {
    // A proxy, or the prototype itself.
    return #handle in this ? this.toString() : 'Filter {}';
  }

  // --- For dedup streams ---

  static {
    stream = (filter) => {
      const handle = Filter.#handleOf(filter);
      addon.dedupBegin(handle);
      return {
        judge: (lines) => addon.dedupJudge(handle, lines),
        commit: () => addon.dedupCommit(handle),
        pending: () => addon.dedupPending(handle),
        end: () => addon.dedupEnd(handle),
      };
    };
  }
}

// The sizes and rates of a filter with these options, without making it.
function plan(options) {
  const { own, others } = split(options, ['grow']);
  return addon.plan(own, others.grow);
}

// Reads a whole filter file and compares its checksums.
function verify(path) {
  const name = fileName(path);
  try {
    addon.verify(name);
  } catch (error) {
    throw about(error, name);
  }
}

// Turns access to a truncated file into an error, for all filters of this process.
function guardFiles() {
  addon.guard();
}

module.exports = { Filter, guardFiles, plan, stream, verify };
