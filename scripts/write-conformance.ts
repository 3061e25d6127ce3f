// Writes docs/conformance.md from test/conformance/results, which the tests there check.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const PAGE = new URL('docs/conformance.md', root);
const RESULTS = new URL('test/conformance/results/', root);

const INTRODUCTION = `# Conformance

Galley against test suites that others wrote. Each suite is installed from its registry at the version below, with pinned
hashes, and runs on Galley's own code in the system tier:

\`\`\`sh
npm run setup:system && npm run build
npm run test:system -- test/conformance
\`\`\`

A run fails if a case fails that isn't listed here, and if a listed one passes. \`WRITE_CONFORMANCE=yes\` writes new counts, and
\`npm run conformance\` makes this page from them.

See also the [threat model](./security#trust-boundaries) and [how to report a fault](./security#report-a-fault).
`;

type Failure = { because: string; cases: string[] };
type Result = { suite: string; package: string; shows: string; version: string; cases: number; failures: Failure[] };

const count = (failures: readonly Failure[]): number => failures.reduce((sum, { cases }) => sum + cases.length, 0);

const grouped = (number: number): string => number.toLocaleString('en-US');

/** A case's name is a text of another project. */
const code = (text: string): string =>
  `<code v-pre>${text.replace(/[&<>|*_`[\]\\]/g, (found) => `&#${found.charCodeAt(0)};`)}</code>`;

/** Only the first names of many. */
const MOST_NAMES = 6;

function failureLine({ because, cases }: Failure): string {
  const names = cases.slice(0, MOST_NAMES).map(code).join(', ');
  return `* ${because} (${grouped(cases.length)}: ${names}${cases.length > MOST_NAMES ? ', …' : ''})`;
}

function row(result: Result): string {
  const failed = count(result.failures);
  const counts = [result.cases, result.cases - failed, failed].map(grouped).join(' | ');
  return `| ${result.suite} | \`${result.package}\` ${result.version} | ${counts} |`;
}

function section({ suite, shows, failures }: Result): string {
  const lines = failures.length === 0 ? ['No case fails.'] : failures.map(failureLine);
  return `### ${suite}\n\nA case passes if ${shows}.\n\n${lines.join('\n')}\n`;
}

/** The page. */
export function conformancePage(): string {
  const results: Result[] = readdirSync(RESULTS)
    .sort()
    .map((name) => JSON.parse(readFileSync(new URL(name, RESULTS), 'utf8')));
  const table = ['| suite | from | cases | passed | failed |', '| --- | --- | --- | --- | --- |', ...results.map(row)];
  return [INTRODUCTION, '## Results\n', `${table.join('\n')}\n`, '## Failures\n', results.map(section).join('\n')].join(
    '\n',
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, conformancePage());
