import { basename } from 'node:path';

/**
 * The suites of `npm run test:real` by how long each takes, the longest first: whoever begins one of these last leaves
 * the machine idle beside it. What isn't named comes after them, the larger file first.
 */
const LONGEST = [
  'gitea-adapter',
  'operators',
  'hydrating-sites',
  'crashes',
  'hydrating-apps',
  'browser',
  'agent-crashes',
  'static-export-job-killed',
  'export-killed',
  'publish',
  'manuals-export',
  'admin-api-faults',
  'schemathesis',
  'every-construct',
  'services',
  'secrets',
  'pages',
  'export-bench',
  'up-with-servers',
  'two-processes',
  'mail-page',
];

const placeOf = ({ path }) => {
  const place = LONGEST.indexOf(basename(path, '.real.test.ts'));
  return place < 0 ? LONGEST.length : place;
};

/** Jest's way to give the order of suites: the same on every machine, whatever ran on it before. */
export default class LongestFirst {
  sort(tests) {
    const sizeOf = (test) => test.context.hasteFS.getSize(test.path) ?? 0;
    return [...tests].sort((one, other) => placeOf(one) - placeOf(other) || sizeOf(other) - sizeOf(one));
  }

  /** Nothing is remembered from run to run. */
  cacheResults() {}

  allFailedTests() {
    return [];
  }
}
