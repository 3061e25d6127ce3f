// What `.ci/run` reads out of the test runner's own results (`--json --outputFile=FILE`).
//   node scripts/ci-results.js again FILE               prints the test files that get a second run, one a line
//   node scripts/ci-results.js count FILE[,AGAIN] …     prints what failed, then `N passed, N failed`
// AGAIN holds the second run of FILE's failed files. Where there was none, it need not exist.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** More files than this fail by no accident: none of them is run again. */
const MOST_AGAIN = 5;

/** One run's test files, each with its counts; null where the runner left no results. */
function read(file) {
  let run;
  try {
    run = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
  const files = new Map(run.testResults.map((suite) => [relative(process.cwd(), suite.name), countsOf(suite)]));
  // A run may fail beside its files, or be cut short.
  const broken = run.wasInterrupted || (!run.success && failedIn(files).length === 0);
  return { files, broken };
}

function countsOf({ status, assertionResults }) {
  const failures = assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName);
  // It broke before, between or after its tests.
  if (status === 'failed' && failures.length === 0) failures.push('the file itself');
  return { passed: assertionResults.filter((test) => test.status === 'passed').length, failures };
}

function failedIn(files) {
  return [...files].filter(([, { failures }]) => failures.length > 0).map(([file]) => file);
}

/** The files of a run that are worth a second one. */
function again(file) {
  const run = read(file);
  if (run === null || run.broken) return [];
  const failed = failedIn(run.files);
  return failed.length <= MOST_AGAIN ? failed : [];
}

/** Both runs as one: a file's second result takes the place of its first. A file that the second run left out stays failed. */
function merged(file, secondFile) {
  const first = read(file);
  if (first === null) return { passed: 0, failed: 1, lines: [`no results: ${file}`] };
  const second = secondFile ? read(secondFile)?.files : undefined;
  let passed = 0;
  let failed = first.broken ? 1 : 0;
  const lines = first.broken ? [`the run itself failed: ${file}`] : [];
  for (const [name, counts] of first.files) {
    const last = second?.get(name) ?? counts;
    passed += last.passed;
    failed += last.failures.length;
    if (last.failures.length > 0) lines.push(...told(second?.has(name) ? 'failed twice' : 'failed', name, last));
    else if (counts.failures.length > 0) lines.push(...told('passed only on the second run, alone', name, counts));
  }
  return { passed, failed, lines };
}

function told(what, name, { failures }) {
  return [`${what}: ${name}`, ...failures.map((failure) => `  ${failure}`)];
}

const [command, ...files] = process.argv.slice(2);
if (command === 'again') {
  for (const name of files.flatMap(again)) console.log(name);
} else {
  const runs = files.map((each) => merged(...each.split(',')));
  const sum = (of) => runs.reduce((total, run) => total + of(run), 0);
  for (const line of runs.flatMap((run) => run.lines)) console.log(line);
  console.log(`${sum((run) => run.passed)} passed, ${sum((run) => run.failed)} failed`);
  process.exitCode = sum((run) => run.failed) > 0 ? 1 : 0;
}
