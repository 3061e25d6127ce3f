import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

interface Suite {
  status: 'passed' | 'failed';
  tests: Record<string, 'passed' | 'failed'>;
}

/** Writes results as jest does. */
async function results(name: string, suites: Suite[], run: object = {}): Promise<string> {
  const file = join(folder, name);
  const testResults = suites.map(({ status, tests }, index) => ({
    name: join(process.cwd(), `test/${index}.test.ts`),
    status,
    assertionResults: Object.entries(tests).map(([fullName, outcome]) => ({ fullName, status: outcome })),
  }));
  const numPassedTests = suites.flatMap(({ tests }) => Object.values(tests)).filter((each) => each === 'passed').length;
  const success = suites.every(({ status }) => status === 'passed');
  await writeFile(file, JSON.stringify({ success, wasInterrupted: false, numPassedTests, testResults, ...run }));
  return file;
}

/** Counts results. The lines for test/quarantine.js are left out: they are true whatever the results say. */
async function count(...files: string[]): Promise<{ code: number; lines: string[] }> {
  return await new Promise((resolve) => {
    const child = execFile(process.execPath, ['scripts/ci-results.js', ...files], (_error, stdout) => {
      const lines = stdout.trimEnd().split('\n');
      resolve({ code: child.exitCode ?? -1, lines: lines.filter((line) => !line.startsWith('in quarantine since')) });
    });
  });
}

const GOOD: Suite = { status: 'passed', tests: { a: 'passed', b: 'passed' } };

describe('what CI counts', () => {
  test('adds up the runs', async () => {
    const files = [await results('fast', [GOOD]), await results('integration', [GOOD, GOOD])];
    expect(await count(...files)).toEqual({ code: 0, lines: ['6 passed, 0 failed'] });
  });

  test('names each failed test and each file that broke outside its tests', async () => {
    const failed: Suite = { status: 'failed', tests: { a: 'passed', b: 'failed' } };
    const broken: Suite = { status: 'failed', tests: {} };
    expect(await count(await results('fast', [GOOD, failed, broken]))).toEqual({
      code: 1,
      lines: ['failed: test/1.test.ts: b', 'failed: test/2.test.ts: the file itself', '3 passed, 2 failed'],
    });
  });

  test.each([
    ['was interrupted', { wasInterrupted: true }],
    ['failed although no test did', { success: false }],
  ])('counts a run that %s as a failure', async (_what, run) => {
    const file = await results('fast', [GOOD], run);
    expect(await count(file)).toEqual({
      code: 1,
      lines: [`failed: the run itself failed: ${file}`, '2 passed, 1 failed'],
    });
  });

  test('counts missing results as a failure', async () => {
    const { code, lines } = await count(join(folder, 'nothing'));
    expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: '0 passed, 1 failed' });
  });
});
