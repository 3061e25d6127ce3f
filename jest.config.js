// Two suites share this file. `npm test` needs Node, git and bubblewrap (`npm run setup:test`); suites on PostgreSQL,
// S3, Chromium and the like are named *.real.test.ts and run with `npm run test:real` after `npm run setup:real`.
const real = process.env.GALLEY_TEST_SUITE === 'real';

export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  testMatch: [real ? '<rootDir>/test/**/*.real.test.ts' : '<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', ...(real ? [] : ['\\.real\\.test\\.ts$'])],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.galley/'],
  testSequencer: '<rootDir>/test/helpers/longest-first.js',
  globalSetup: '<rootDir>/test/helpers/global-setup.js',
  // More than a small machine has cores: a suite waits for servers and timers for most of its time.
  maxWorkers: 3,
  // Modules of suites that are over stay in a worker's heap. Past this size it begins anew: a large process starts each
  // program that a test needs many times as slowly, since all its pages are listed for the fork.
  workerIdleMemoryLimit: '500MB',
  // What a machine with many neighbours may need. Only a test that hangs comes to it; speed is no test's matter.
  testTimeout: 600_000,
};
