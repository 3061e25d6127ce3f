import { jestConfig } from './jest-tier.js';

export default jestConfig('cluster');
