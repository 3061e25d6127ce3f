import { basename } from 'node:path';

/**
 * The files of each suite by how long each takes, the longest first: whoever begins one of these last leaves the machine
 * idle beside it. What isn't named comes after them, the larger file first.
 */
const LONGEST = [
  // npm run test:real
  'gitea-adapter.real',
  'operators.real',
  'hydrating-sites.real',
  'crashes.real',
  'hydrating-apps.real',
  'browser.real',
  'agent-crashes.real',
  'static-export-job-killed.real',
  'export-killed.real',
  'publish.real',
  'manuals-export.real',
  'admin-api-faults.real',
  'schemathesis.real',
  'every-construct.real',
  'services.real',
  'secrets.real',
  'pages.real',
  'export-bench.real',
  'up-with-servers.real',
  'two-processes.real',
  'mail-page.real',
  // npm test
  'agent-job-killed',
  'ninety-days',
  'demo',
  'export',
  'trouble',
  'agent-rule',
  'agent-change',
  'continuing',
  'operators',
  'seed-admin-api',
  'export-site',
  'agent',
  'database',
  'crashes',
  'export-site-debounce',
  'send-once',
  'up',
  'agent-change-days',
  'tell-operators',
  'kept-exports',
  'agent-job',
  'agent-job-endings',
  'command-runner',
  'benches',
  'hostile-origins',
  'embedded',
  'agent-rule-days',
  'agent-activities',
  'webhook-send',
];

const placeOf = ({ path }) => {
  const place = LONGEST.indexOf(basename(path, '.test.ts'));
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
