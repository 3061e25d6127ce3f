import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { cacheFolder } from '../embedded/cache-folder.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const run = promisify(execFile);

const results = z.object({ success: z.boolean(), numPassedTests: z.number(), testResults: z.array(z.unknown()) });

const folder = temporaryFolder();

/** The folder of a Node release that `npm run setup:system` installed. */
async function binFolder(version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const bin = join(cacheFolder(), 'node', version, 'node_modules', name, 'bin');
  await access(join(bin, 'node')).catch(() => {
    throw new Error(`Node ${version} is not installed for the tests. Run: npm run setup:system`);
  });
  return bin;
}

test.each(['22', '24', '26'])(
  'the fast tier passes on Node %s',
  async (version) => {
    const bin = await binFolder(version);
    const outputFile = join(folder, `${version}.json`);
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    expect((await run('node', ['--version'], { env })).stdout).toMatch(new RegExp(`^v${version}\\.`));
    const args = ['test', '--', '--json', `--outputFile=${outputFile}`];
    // A failed run rejects with jest's report, which names the failed tests.
    await run('npm', args, { env, maxBuffer: 1024 ** 3 });
    const { success, numPassedTests, testResults } = results.parse(JSON.parse(await readFile(outputFile, 'utf8')));
    expect(success).toBe(true);
    expect(testResults.length).toBeGreaterThan(100);
    expect(numPassedTests).toBeGreaterThan(1_000);
  },
  1_800_000,
);
