'use strict';
// Options of filters: which exist is in the library's table, so a new one needs no line here.

const { addon } = require('./addon.js');
const { wrongType } = require('./errors.js');

const TABLE = addon.options();
const NAMES = new Set(TABLE.map((row) => row.name));
const RENEWABLE = new Set(TABLE.filter((row) => row.renewable).map((row) => row.name));

function list(what, value) {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongType(what, 'an array of names', value);
  return Array.from(value);
}

// A profile by name, or with lists of query parameters: { profile, drop, keep, builtin }.
function rules(url) {
  if (url === undefined) return undefined;
  if (typeof url === 'string') return { profile: url, drop: [], keep: [], builtin: true };
  if (url === null || typeof url !== 'object') throw wrongType('url', 'the name of a profile or an object', url);
  const { profile = 'crawl', drop, keep, builtin = true } = url;
  if (typeof builtin !== 'boolean') throw wrongType('url.builtin', 'a boolean', builtin);
  return { profile, drop: list('url.drop', drop), keep: list('url.keep', keep), builtin };
}

// Splits options into those of the library and the `extra` ones of a call.  Every property is read
// once, so that what was checked is what is used.
function split(options, extra = [], names = NAMES) {
  const own = Object.create(null);
  const others = Object.create(null);
  if (options === undefined) return { own, others };
  if (options === null || typeof options !== 'object') throw wrongType('options', 'an object', options);
  for (const name of Object.keys(options)) {
    const value = options[name];
    if (value === undefined) continue;
    if (extra.includes(name)) others[name] = value;
    else if (names.has(name)) own[name] = value;
    else {
      const error = new TypeError(`there is no option ${name} here; there are ${[...extra, ...names].join(', ')}`);
      error.code = 'ERR_INVALID_ARG_VALUE';
      throw error;
    }
  }
  own.url = rules(own.url);
  return { own, others };
}

module.exports = { NAMES, RENEWABLE, TABLE, rules, split };
