import { jestConfig } from './jest-tier.js';

// One cluster at a time: each takes all cores of a small machine.
export default { ...jestConfig('cluster'), maxWorkers: 1 };
