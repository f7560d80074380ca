'use strict';
// DejaError: every failure of the library.

const { getSystemErrorName } = require('node:util');

const CODES = {
  '-1': 'DEJA_EINVAL', // an argument breaks a rule
  '-2': 'DEJA_ENOMEM', // out of memory
  '-3': 'DEJA_EIO', // a file operation failed; `system` has the reason
  '-4': 'DEJA_EFORMAT', // not a filter file, or a damaged one
  '-5': 'DEJA_EVERSION', // newer than this package
  '-6': 'DEJA_EFULL', // no room for this key
  '-7': 'DEJA_ESPACE',
  '-8': 'DEJA_ENOTSUP', // this kind cannot do that
  '-9': 'DEJA_EMISMATCH', // a different kind, size, key or URL profile
  '-10': 'DEJA_EBUSY', // in use by another process, call or stream
  '-11': 'DEJA_ENOTURL', // these bytes are not a URL
};

// The library's texts name functions and flags of C.
const WORDS = [
  ['DEJA_OPEN_REPAIR', 'repair: true'],
  ['deja_builder_new', 'Filter.build'],
  ['deja_filter_copy', 'save'],
];

// A terminal would interpret control characters in a file name.
function printable(text) {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

class DejaError extends Error {
  constructor(message, status = -1, errno = 0, done = 0) {
    let text = printable(String(message));
    for (const [theirs, ours] of WORDS) text = text.replaceAll(theirs, ours);
    super(text);
    this.code = CODES[status] ?? 'DEJA_EUNKNOWN';
    if (errno) {
      this.errno = -errno;
      this.system = getSystemErrorName(-errno);
    }
    if (done) this.done = done;
  }
}
Object.defineProperty(DejaError.prototype, 'name', { value: 'DejaError', configurable: true, writable: true });

// Says which file an error is about, unless the message does.
function about(error, path) {
  if (path && error instanceof DejaError && !error.message.includes(path)) {
    error.message = `${printable(path)}: ${error.message}`;
  }
  return error;
}

function wrongType(what, wanted, value) {
  const found = value === null ? 'null' : typeof value;
  const error = new TypeError(`${what} must be ${wanted}, not ${found}`);
  error.code = 'ERR_INVALID_ARG_TYPE';
  return error;
}

module.exports = { DejaError, about, wrongType };
