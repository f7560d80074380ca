'use strict';
// deja/crawlee: requests that were handled before, for Crawlee.

const { SeenRequests } = require('./lib/seen.js');

module.exports = { SeenRequests };
