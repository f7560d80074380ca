'use strict';
// Finds and loads the addon for this machine: prebuilds/<platform>-<arch>-<libc>/deja.node, or the
// file that DEJA_ADDON names (a build of the source tree).

const fs = require('node:fs');
const path = require('node:path');
const { DejaError } = require('./errors.js');

// Node.js reports the version of glibc that it runs on, and none on musl.
function libc() {
  if (process.platform !== 'linux') return null;
  process.report.excludeNetwork = true; // looking up names of sockets can take seconds
  const { header } = process.report.getReport();
  return header.glibcVersionRuntime ? 'glibc' : 'musl';
}

function prebuilds() {
  return path.join(__dirname, '..', 'prebuilds');
}

function machine() {
  return [process.platform, process.arch, libc()].filter(Boolean).join('-');
}

function locate() {
  if (process.env.DEJA_ADDON) return process.env.DEJA_ADDON;
  const name = machine();
  const file = path.join(prebuilds(), name, 'deja.node');
  if (fs.existsSync(file)) return file;
  let others = 'none';
  try {
    others = fs.readdirSync(prebuilds()).sort().join(', ') || others;
  } catch {
    // the package was not packed by scripts/prebuild
  }
  const error = new Error(
    `deja has no prebuilt addon for ${name} (it has: ${others}). Build the addon from deja's source ` +
      'tree (cmake --preset release && cmake --build --preset release) and set DEJA_ADDON to ' +
      'build/release/node/deja.node');
  error.code = 'DEJA_ENOADDON';
  throw error;
}

function load() {
  const file = locate();
  try {
    return require(path.resolve(file));
  } catch (cause) {
    const error = new Error(`deja cannot load its addon ${file}: ${cause.message}`, { cause });
    error.code = 'DEJA_ENOADDON';
    throw error;
  }
}

const addon = load();
addon.setup(DejaError);

module.exports = { addon };
