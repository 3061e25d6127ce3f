import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

type Suite = { name: string; status: 'passed' | 'failed'; assertionResults: { fullName: string; status: string }[] };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-ci-results-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A file of tests as the runner tells of it: each letter is a test that passed (p), failed (f) or was left out (s). */
function suite(name: string, tests: string, status?: Suite['status']): Suite {
  const statuses: Record<string, string> = { p: 'passed', f: 'failed', s: 'pending' };
  return {
    name: join(process.cwd(), 'test', name),
    status: status ?? (tests.includes('f') ? 'failed' : 'passed'),
    assertionResults: [...tests].map((letter, at) => ({ fullName: `${name} ${at}`, status: statuses[letter] ?? '' })),
  };
}

async function run(name: string, testResults: Suite[], how: Record<string, unknown> = {}): Promise<string> {
  const file = join(folder, `${name}.json`);
  const success = testResults.every(({ status }) => status === 'passed');
  await writeFile(file, JSON.stringify({ success, wasInterrupted: false, testResults, ...how }));
  return file;
}

async function results(command: 'again' | 'count', ...files: string[]): Promise<{ lines: string[]; exitCode: number }> {
  const { stdout, exitCode = -1 } = await execa('node', ['scripts/ci-results.js', command, ...files], {
    reject: false,
  });
  return { lines: stdout.split('\n').filter((line) => line !== ''), exitCode };
}

describe('the results of the checks', () => {
  it('add up over the suites, and leave out what did not run', async () => {
    const one = await run('one', [suite('a', 'pps'), suite('b', 'p')]);
    const other = await run('other', [suite('c', 'pp')]);
    expect(await results('count', `${one},${folder}/none.json`, other)).toEqual({
      lines: ['5 passed, 0 failed'],
      exitCode: 0,
    });
    expect(await results('again', one)).toEqual({ lines: [], exitCode: 0 });
  });

  it('tell each failure, also that of a file that broke beside its tests', async () => {
    const file = await run('broken', [suite('a', 'pfp'), suite('b', '', 'failed'), suite('c', 'pp', 'failed')]);
    expect(await results('count', file)).toEqual({
      lines: [
        'failed: test/a',
        '  a 1',
        'failed: test/b',
        '  the file itself',
        'failed: test/c',
        '  the file itself',
        '4 passed, 3 failed',
      ],
      exitCode: 1,
    });
    expect((await results('again', file)).lines).toEqual(['test/a', 'test/b', 'test/c']);
  });

  it('take the second result of a file for its first, and say so', async () => {
    const first = await run('first', [suite('a', 'ppf'), suite('b', 'f'), suite('c', 'pp'), suite('d', '', 'failed')]);
    const second = await run('second', [suite('a', 'ppp'), suite('b', 'f'), suite('d', 'pp')]);
    expect(await results('count', `${first},${second}`)).toEqual({
      lines: [
        'passed only on the second run, alone: test/a',
        '  a 2',
        'failed twice: test/b',
        '  b 0',
        'passed only on the second run, alone: test/d',
        '  the file itself',
        '7 passed, 1 failed',
      ],
      exitCode: 1,
    });
    const mended = await run('mended', [suite('a', 'ppp'), suite('b', 'p'), suite('d', 'pp')]);
    const { lines, exitCode } = await results('count', `${first},${mended}`);
    expect([lines.at(-1), exitCode]).toEqual(['8 passed, 0 failed', 0]);
  });

  it('leave a file failed that the second run left out', async () => {
    const first = await run('more', [suite('a', 'f'), suite('b', 'pf')]);
    const second = await run('less', [suite('a', 'p')]);
    expect((await results('count', `${first},${second}`)).lines).toEqual([
      'passed only on the second run, alone: test/a',
      '  a 0',
      'failed: test/b',
      '  b 1',
      '2 passed, 1 failed',
    ]);
    await writeFile(second, '{"testResults": [');
    expect((await results('count', `${first},${second}`)).lines.at(-1)).toBe('1 passed, 2 failed');
  });

  it('give more than five failed files no second run', async () => {
    const failed = ['a', 'b', 'c', 'd', 'e'].map((name) => suite(name, 'f'));
    expect((await results('again', await run('five', failed))).lines).toHaveLength(5);
    expect((await results('again', await run('six', [...failed, suite('f', 'f')]))).lines).toEqual([]);
  });

  it('fail where a run left no results, was cut short or failed beside its files', async () => {
    const none = join(folder, 'none.json');
    const cut = await run('cut', [suite('a', 'p')], { wasInterrupted: true });
    const beside = await run('beside', [suite('a', 'p')], { success: false });
    const good = await run('good', [suite('a', 'p')]);
    for (const file of [none, cut, beside]) {
      const { lines, exitCode } = await results('count', file, good);
      expect([lines.length, lines.at(-1)?.endsWith(' passed, 1 failed'), exitCode]).toEqual([2, true, 1]);
      expect((await results('again', file)).lines).toEqual([]);
    }
  });
});
