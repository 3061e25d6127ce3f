import { fileURLToPath } from 'node:url';
import { swcOptions } from '../scripts/swc-options.js';
import { QUARANTINE } from './quarantine.js';

/** The tiers and the ending of their files (docs/development.md), which an `x` may follow. */
const ENDINGS = {
  fast: '.test.ts',
  integration: '.integration.test.ts',
  system: '.system.test.ts',
  cluster: '.cluster.test.ts',
  containers: '.containers.test.ts',
};

/** Those whose files share servers. */
const WITH_SERVERS = ['integration', 'system'];

/**
 * The jest configuration of one tier.
 * @param {keyof typeof ENDINGS} tier
 */
export function jestConfig(tier) {
  const others = Object.values(ENDINGS).filter((ending) => ending !== ENDINGS[tier] && ending !== ENDINGS.fast);
  return {
    rootDir: fileURLToPath(new URL('..', import.meta.url)),
    testEnvironment: '<rootDir>/test/environment.js',
    extensionsToTreatAsEsm: ['.ts', '.tsx'],
    transform: {
      '^.+\\.ts$': ['@swc/jest', swcOptions({ tsx: false })],
      '^.+\\.tsx$': ['@swc/jest', swcOptions({ tsx: true })],
    },
    testMatch: [`<rootDir>/test/**/*${ENDINGS[tier]}?(x)`],
    testPathIgnorePatterns: [
      '/node_modules/',
      '<rootDir>/dist/',
      ...others.map((ending) => `${ending.replaceAll('.', '\\.')}x?$`),
      ...QUARANTINE.map(({ file }) => `<rootDir>/${file}$`),
    ],
    modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.galley/'],
    testSequencer: '<rootDir>/test/longest-first.js',
    globalSetup: `<rootDir>/test/setup-${WITH_SERVERS.includes(tier) ? 'servers' : 'fast'}.js`,
    ...(WITH_SERVERS.includes(tier) ? { globalTeardown: '<rootDir>/test/teardown-servers.js' } : {}),
    // More than a small machine has cores, because a test file spends most of its time waiting for servers.
    maxWorkers: 3,
    // A worker keeps the modules of the files it has run. A large process also forks more slowly.
    workerIdleMemoryLimit: '500MB',
    // Only stops a test that hangs. No verdict depends on speed.
    testTimeout: 600_000,
  };
}
