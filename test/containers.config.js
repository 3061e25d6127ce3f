import { jestConfig } from './jest-tier.js';

// One stack at a time: it takes the ports that docker-compose.yml names, and a small machine's memory.
export default {
  ...jestConfig('containers'),
  globalSetup: '<rootDir>/test/containers/start-engine.js',
  globalTeardown: '<rootDir>/test/containers/stop-engine.js',
  maxWorkers: 1,
};
