'use strict';
// SeenRequests: drops requests that were handled in this run or an earlier one, for Crawlee.
//
// A request queue of Crawlee keeps every request for as long as it exists, which is how it knows
// them again.  Here a queue only needs to hold the requests of one crawl: what was handled before is
// a few bytes in a filter file.  A request counts as seen only once it was handled, so a crash can
// repeat a page but never lose one: what is queued and not handled stays in the queue.

const { createHash } = require('node:crypto');
const { createRequire } = require('node:module');
const path = require('node:path');
const { DejaError, wrongType } = require('./errors.js');
const { Filter } = require('./filter.js');
const { split } = require('./options.js');

const DISPOSE = Symbol.dispose ?? Symbol.for('nodejs.dispose');
const ID_LENGTH = 15; // of the ids that Crawlee gives to requests
const SYNC_SECONDS = 5;
const FIRST_CAPACITY = 100000; // most crawls are small, and a filter grows
const FAILED = new Set([5, 6, 7]); // Crawlee's RequestState: ERROR_HANDLER, ERROR, SKIPPED

// Crawlee's class Request computes the unique key of a request.  Crawlee is the application's own
// dependency, so the application's copy is the right one.
function crawleeRequest() {
  const places = [path.join(process.cwd(), 'package.json'), __filename];
  if (process.argv[1]) places.unshift(path.resolve(process.argv[1]));
  for (const place of places) {
    for (const name of ['@crawlee/core', 'crawlee', '@crawlee/basic', '@crawlee/cheerio', '@crawlee/http']) {
      try {
        const { Request } = createRequire(place)(name);
        if (Request) return Request;
      } catch (error) {
        if (error.code !== 'MODULE_NOT_FOUND' && error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error;
      }
    }
  }
  throw new DejaError('Crawlee is not installed here; pass its class: wrap(queue, { Request })');
}

function requestId(uniqueKey) {
  return createHash('sha256').update(uniqueKey).digest('base64').replace(/[+/=]/g, '').slice(0, ID_LENGTH);
}

// What Crawlee's queue answers for a request that it has handled.
function droppedInfo(uniqueKey, forefront) {
  return { requestId: requestId(uniqueKey), uniqueKey, wasAlreadyPresent: true, wasAlreadyHandled: true, forefront };
}

class SeenRequests {
  #filter;
  #owned;
  #syncMs;
  #synced = Date.now();
  #recordFailed;
  #counts = { offered: 0, dropped: 0, recorded: 0 };

  // path: a filter file, created if it does not exist; or a Filter, which stays open.  options: those
  // of Filter.open, and failed (record requests that failed for good), syncSeconds.
  constructor(where, options) {
    const { own, others } = split(options, ['grow', 'repair', 'permissions', 'failed', 'syncSeconds']);
    const { failed = false, syncSeconds = SYNC_SECONDS, ...opening } = others;
    if (typeof failed !== 'boolean') throw wrongType('failed', 'a boolean', failed);
    if (typeof syncSeconds !== 'number' || !(syncSeconds >= 0)) {
      throw wrongType('syncSeconds', 'a number of seconds', syncSeconds);
    }
    this.#recordFailed = failed;
    this.#syncMs = syncSeconds * 1000;
    this.#owned = !(where instanceof Filter);
    if (!own.url) delete own.url;
    if (!own.capacity && !own.memory && !own.kind) own.capacity = FIRST_CAPACITY;
    this.#filter = this.#owned ? Filter.open(where, { ...own, ...opening }) : where;
  }

  get filter() {
    return this.#filter;
  }

  // How many requests were offered to the queues and dropped, and how many were recorded.
  get counts() {
    return { ...this.#counts };
  }

  // Whether a request, by its unique key, was handled before.
  has(request) {
    return this.#filter.has(typeof request === 'string' ? request : request.uniqueKey);
  }

  // Records a request as handled; wrapped queues do this themselves.
  record(request) {
    this.#filter.add(typeof request === 'string' ? request : request.uniqueKey);
    this.#counts.recorded++;
    const now = Date.now();
    if (now - this.#synced >= this.#syncMs) {
      this.#filter.sync();
      this.#synced = now;
    }
  }

  sync() {
    this.#filter.sync();
  }

  // Begins the next visit: every page is new again.
  rotate(options) {
    this.#filter.rotate(options);
  }

  close() {
    if (this.#owned) this.#filter.close();
    else this.#filter.sync();
  }

  [DISPOSE]() {
    this.close();
  }

  // Returns the queue with another view of it: it looks like the queue, adds only requests that are not
  // seen, and records those that were handled.  options: again(request), true for requests that are
  // never dropped, such as start pages that are read for new links; Request, Crawlee's class.
  wrap(queue, options) {
    const { others } = split(options, ['again', 'Request'], new Set());
    if (typeof queue?.fetchNextRequest !== 'function' || typeof queue.markRequestHandled !== 'function') {
      throw wrongType('queue', 'a RequestQueue, a RequestList or another request manager of Crawlee', queue);
    }
    if (others.again !== undefined && typeof others.again !== 'function') throw wrongType('again', 'a function', others.again);
    const calls = new Calls(this, queue, others.again ?? (() => false), others.Request);
    return new Proxy(queue, {
      get: (target, name) => calls.get(target, name),
      set: (target, name, value) => Reflect.set(target, name, value),
    });
  }

  // For wrapped queues.
  drops(request, again) {
    return this.has(request) && !again(request);
  }

  count(what) {
    this.#counts[what]++;
  }

  records(request) {
    return this.#recordFailed || !FAILED.has(request.state);
  }
}

// The calls of a wrapped queue that differ; the others go to the queue itself.
class Calls {
  #seen;
  #queue;
  #again;
  #Request;
  #methods;

  constructor(seen, queue, again, Request) {
    this.#seen = seen;
    this.#queue = queue;
    this.#again = again;
    this.#Request = Request;
    this.#methods = { __proto__: null };
    for (const name of ['addRequest', 'addRequests', 'addRequestsBatched', 'fetchNextRequest', 'markRequestHandled']) {
      if (typeof queue[name] === 'function') this.#methods[name] = this[name].bind(this);
    }
  }

  get(target, name) {
    if (name === Symbol.asyncIterator) return this.iterate.bind(this);
    if (this.#methods[name]) return this.#methods[name];
    // The crawler drops a queue of this name before its second run, and opens another without us.
    if (name === 'name' && target.name === 'default') return undefined;
    const value = Reflect.get(target, name);
    if (typeof value !== 'function' || name === 'constructor') return value;
    this.#methods[name] = value.bind(target);
    return this.#methods[name];
  }

  // A source as a Request; null if it stands for a list of URLs, which only the queue can read.
  #requestOf(source) {
    if (typeof source !== 'string' && (source === null || typeof source !== 'object')) return null;
    if (typeof source === 'object' && ('requestsFromUrl' in source || source.id !== undefined)) return null;
    this.#Request ??= crawleeRequest();
    if (source instanceof this.#Request) return source;
    const options = typeof source === 'string' ? { url: source } : source;
    return typeof options.url === 'string' ? new this.#Request(options) : null;
  }

  // The unique key of a source if it is to be dropped.
  #dropped(source) {
    const request = this.#requestOf(source);
    this.#seen.count('offered');
    if (!request || !this.#seen.drops(request, this.#again)) return null;
    this.#seen.count('dropped');
    return request.uniqueKey;
  }

  async addRequest(source, options) {
    const key = this.#dropped(source);
    return key === null ? this.#queue.addRequest(source, options) : droppedInfo(key, Boolean(options?.forefront));
  }

  async *#fresh(sources, infos, forefront) {
    for await (const source of sources) {
      const key = this.#dropped(source);
      if (key === null) yield source;
      else infos.push(droppedInfo(key, forefront));
    }
  }

  async addRequests(sources, options) {
    const infos = [];
    const result = await this.#queue.addRequests(this.#fresh(sources, infos, Boolean(options?.forefront)), options);
    return { ...result, processedRequests: [...result.processedRequests, ...infos] };
  }

  // The first batch is awaited and the others are added in the background, as by the queue.
  async addRequestsBatched(sources, options) {
    const infos = [];
    const fresh = this.#fresh(sources, infos, Boolean(options?.forefront));
    const result = await this.#queue.addRequestsBatched(fresh, options);
    const first = infos.splice(0);
    const rest = Promise.resolve(result.waitForAllRequestsToBeAdded).then((added) => [...(added ?? []), ...infos]);
    rest.catch(() => {}); // whoever awaits it gets the error
    return { ...result, addedRequests: [...result.addedRequests, ...first], waitForAllRequestsToBeAdded: rest };
  }

  // A queue may hold requests that did not pass through here: from a list of URLs, or from a run that
  // ended between the record and the mark.
  async fetchNextRequest(...args) {
    for (;;) {
      const request = await this.#queue.fetchNextRequest(...args);
      if (!request || !this.#seen.drops(request, this.#again)) return request;
      this.#seen.count('dropped');
      await this.#queue.markRequestHandled(request);
    }
  }

  async markRequestHandled(request, ...args) {
    const info = await this.#queue.markRequestHandled(request, ...args);
    if (this.#seen.records(request)) this.#seen.record(request);
    return info;
  }

  async *iterate() {
    for (let request; (request = await this.fetchNextRequest()); ) yield request;
  }
}

module.exports = { SeenRequests };
