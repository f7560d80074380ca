'use strict';
// URLs without a filter.

const { addon } = require('./addon.js');
const { rules } = require('./options.js');

// The canonical form of a URL in a profile: 'safe', 'crawl', 'gsb', 'scrapy', 'shape', or an object
// as for the option url.
function canonicalize(url, profile = 'safe') {
  return addon.canonicalize(url, rules(profile));
}

// The URL that a link in the page `base` points to, with its fragment.
function resolve(base, link) {
  return addon.resolve(base, link);
}

// Scheme and authority, then each segment of the path; the query belongs to the last.
function layers(url) {
  return addon.layers(url);
}

// The expressions that Safe Browsing looks up for a URL, the most specific first.
function expressions(url) {
  return addon.expressions(canonicalize(url, 'gsb'));
}

module.exports = { canonicalize, expressions, layers, resolve };
