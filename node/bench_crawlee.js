'use strict';
// bench_crawlee - memory per request: Crawlee's own queue next to SeenRequests.
//
//     npm install @crawlee/cheerio && node --expose-gc --max-old-space-size=8000 node/bench_crawlee.js [REQUESTS]
//
// Run it in a folder with Crawlee.  The queue keeps its requests in memory (persistStorage: false); on
// disk, every request would be a file.

const { createRequire } = require('node:module');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { SeenRequests } = require('./crawlee.js');

const { RequestQueue, Configuration } = createRequire(path.join(process.cwd(), 'x.js'))('@crawlee/cheerio');
const n = Number(process.argv[2] ?? 1e6);
const STEP = 1000;
const url = (i) => `https://www${i % 9973}.example.com/path/${i}/page?id=${i * 7}`;
const batch = (from) => Array.from({ length: Math.min(STEP, n - from) }, (_, j) => ({ url: url(from + j) }));

function held() {
  for (let i = 0; i < 3; i++) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function ofSeen(options) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'deja-'));
  const seen = new SeenRequests(path.join(folder, 'seen.deja'), options);
  for (let i = 0; i < n; i++) seen.record(url(i));
  const { bytes } = seen.filter.stats();
  seen.close();
  fs.rmSync(folder, { recursive: true });
  return Number(bytes) / n;
}

async function ofQueue() {
  const before = held();
  const queue = await RequestQueue.open(null, { config: new Configuration({ persistStorage: false }) });
  for (let i = 0; i < n; i += STEP) await queue.addRequests(batch(i));
  const bytes = (held() - before) / n;
  if (queue.getTotalCount() !== n) throw new Error('requests are missing');
  return bytes;
}

(async () => {
  console.log(`${n} requests; bytes per request:`);
  console.log(`SeenRequests, capacity given: ${ofSeen({ capacity: n }).toFixed(1)}`);
  console.log(`SeenRequests, grown: ${ofSeen().toFixed(1)}`);
  console.log(`RequestQueue: ${(await ofQueue()).toFixed(0)}`);
})();
