// peer_bloom_filters.js - bloom-filters, from npm; README.md has the arguments and the output.
'use strict';
const fs = require('fs');
const { BloomFilter } = require('bloom-filters');

const REPEATS = 1;
const LINES = 10000; // of each file
const [members, absent, mixed] = process.argv
    .slice(2, 5)
    .map((path) => fs.readFileSync(path, 'utf8').split('\n').slice(0, -1).slice(0, LINES));
const p = Number(process.argv[5]);
const least = { add: Infinity, absent: Infinity, present: Infinity, mixed: Infinity };

// Calls with every key and counts the answers true; keeps the least time per key.
function timed(what, keys, call) {
    let count = 0;
    const begin = process.cpuUsage();
    for (const key of keys) if (call(key)) count++;
    const took = process.cpuUsage(begin);
    least[what] = Math.min(least[what], ((took.user + took.system) * 1000) / keys.length);
    return count;
}

let bits, found, hits, fresh;
for (let i = 0; i < REPEATS; i++) {
    let filter = BloomFilter.create(members.length, p);
    bits = filter.size;
    timed('add', members, (key) => filter.add(key));
    hits = timed('absent', absent, (key) => filter.has(key));
    found = timed('present', members, (key) => filter.has(key));
    filter = BloomFilter.create(members.length, p);
    fresh = timed('mixed', mixed, (key) => {
        if (filter.has(key)) return false;
        filter.add(key);
        return true;
    });
}
const times = Object.values(least).map((ns) => ns.toFixed(1));
console.log([members.length, bits, found, hits, fresh, ...times].join('\t'));
