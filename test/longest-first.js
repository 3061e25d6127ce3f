import { basename } from 'node:path';

/** The files that take longest, in each tier: started last, one of them would keep one worker busy and leave the others idle. */
const LONGEST = [
  // system
  'node-versions.system',
  'hydrating-sites.system',
  'gitea-adapter.system',
  'browser.system',
  'crashes.system',
  'follow-ups.system',
  'hydrating-apps.system',
  'export-killed.system',
  'ninety-days.system',
  'manuals-export.system',
  'static-export-job-killed.system',
  'publish.system',
  'seed-admin-api.system',
  'agent-job-killed.system',
  // integration
  'export-site-days.integration',
  'agent-rule.integration',
  'database.integration',
  'agent-change-days.integration',
  'agent-change.integration',
  'agent-rule-continuing.integration',
  'embedded.integration',
  'export-site.integration',
  'export-site-continuing.integration',
  'agent-job.integration',
  'agent-activities.integration',
  // fast
  'walk',
  'refused-starts',
  'replay',
  'webhook-send',
  'command-runner',
  'github-app',
  'send-once',
];

const placeOf = ({ path }) => {
  const place = LONGEST.indexOf(basename(path, '.test.ts'));
  return place < 0 ? LONGEST.length : place;
};

/** Jest's hook for the order of test files: the longest first, then the larger file first. The same on every machine. */
export default class LongestFirst {
  sort(tests) {
    const sizeOf = (test) => test.context.hasteFS.getSize(test.path) ?? 0;
    return [...tests].sort((one, other) => placeOf(one) - placeOf(other) || sizeOf(other) - sizeOf(one));
  }

  /** Keeps nothing from run to run. */
  cacheResults() {}

  allFailedTests() {
    return [];
  }
}
