import { jestConfig } from './test/jest-tier.js';

export default jestConfig('fast');
