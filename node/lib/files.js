'use strict';
// Names and permissions of filter files.

const fs = require('node:fs');
const { fileURLToPath } = require('node:url');
const { DejaError, wrongType } = require('./errors.js');

const WRITE = 1;
const REPLACE = 2;
const REPAIR = 4;
const MODE_SHIFT = 16;

function fileName(path) {
  if (path instanceof URL) return fileURLToPath(path);
  if (typeof path !== 'string') throw wrongType('path', 'a string or a file: URL', path);
  if (!path) throw new DejaError('path is empty');
  return path;
}

function flag(what, value = false) {
  if (typeof value !== 'boolean') throw wrongType(what, 'a boolean', value);
  return value;
}

function openFlags(write, repair) {
  return (write ? WRITE : 0) | (flag('repair', repair) ? REPAIR : 0);
}

function createFlags(path, replace, permissions) {
  if (permissions !== undefined && !(Number.isInteger(permissions) && permissions > 0 && permissions <= 0o777)) {
    throw new DejaError(`permissions must be a number from 0o001 to 0o777, not ${String(permissions)}`);
  }
  if (path === undefined) {
    if (permissions !== undefined) throw new DejaError('permissions apply to files');
    return 0;
  }
  if (!flag('replace', replace) && taken(path)) {
    const error = new DejaError(`${path}: the file already exists; use replace: true to replace it`);
    error.system = 'EEXIST';
    throw error;
  }
  return (replace ? REPLACE : 0) | ((permissions ?? 0) << MODE_SHIFT);
}

function taken(path) {
  try {
    return Boolean(fs.lstatSync(path, { throwIfNoEntry: false }));
  } catch {
    return false; // the library explains what is wrong with the path
  }
}

module.exports = { createFlags, fileName, flag, openFlags };
