// Prints the failed tests, the quarantined files, and `N passed, N failed` from jest's results.
//   node scripts/ci-results.js FILE…      each FILE written by jest's --json --outputFile
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { QUARANTINE } from '../test/quarantine.js';

/** The counts of one run. A run without results, or one that failed outside its tests, counts as one failure. */
function readRun(file) {
  let run;
  try {
    run = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failures: [`no results: ${file}`] };
  }
  const failures = run.testResults.flatMap(failuresOf);
  if (failures.length === 0 && (run.wasInterrupted || !run.success)) failures.push(`the run itself failed: ${file}`);
  return { passed: run.numPassedTests, failures };
}

function failuresOf({ name, status, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName);
  // The file failed outside its tests.
  if (status === 'failed' && failed.length === 0) failed.push('the file itself');
  return failed.map((test) => `${relative(process.cwd(), name)}: ${test}`);
}

const runs = process.argv.slice(2).map(readRun);
const failures = runs.flatMap((run) => run.failures);
for (const failure of failures) console.log(`failed: ${failure}`);
for (const { file, since, reason, claim } of QUARANTINE)
  console.log(`in quarantine since ${since}: ${file} (${reason}). Unproven: ${claim}`);
console.log(`${runs.reduce((sum, run) => sum + run.passed, 0)} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
