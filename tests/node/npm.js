'use strict';
// npm - installs packages from the registry into the current folder, or skips the test.  Not a test.

const { spawnSync } = require('node:child_process');

exports.skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(77);
};

exports.npm = (...args) => spawnSync('npm', [...args, '--no-audit', '--no-fund', '--cache', process.cwd() + '/npm-cache', '--fetch-retries', '1'],
  { encoding: 'utf8' });

exports.install = (...packages) => {
  const done = exports.npm('install', '--ignore-scripts', '--prefix', '.', ...packages);
  if (done.error) exports.skip('npm is not here (Debian: npm)');
  if (done.status) exports.skip(`npm cannot install ${packages.join(' ')}: no registry?`);
};
