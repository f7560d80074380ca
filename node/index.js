'use strict';
// The public names of the package.

const { addon } = require('./lib/addon.js');
const { DejaError } = require('./lib/errors.js');
const { Filter, guardFiles, plan, verify } = require('./lib/filter.js');
const { dedup } = require('./lib/dedup.js');
const { canonicalize, expressions, layers, resolve } = require('./lib/url.js');

const version = addon.version();
const simd = addon.simd();

module.exports = {
  Filter,
  DejaError,
  dedup,
  plan,
  verify,
  guardFiles,
  canonicalize,
  resolve,
  layers,
  expressions,
  version,
  simd,
};
