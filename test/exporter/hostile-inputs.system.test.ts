import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { builtGalley } from '../helpers/system/built-product.ts';

const run = promisify(execFile);

/** Far beyond what any input takes, also on a busy machine. */
const HANGS_AFTER_MS = 300_000;

/** A Node release that `npm run setup:system` installed; 20 is the oldest, which runs the tests. */
async function nodeProgram(version: string): Promise<string> {
  if (process.version.startsWith(`v${version}.`)) return process.execPath;
  const program = join(
    cacheFolder(),
    'node',
    version,
    'node_modules',
    `node-${process.platform}-${process.arch}`,
    'bin/node',
  );
  await access(program).catch(() => {
    throw new Error(`Node ${version} is not installed for the tests. Run: npm run setup:system`);
  });
  return program;
}

describe.each(['20', '22', '24', '26'])('on Node %s', (version) => {
  it.each(['html', 'xml', 'css', 'script', 'json', 'pagefind', 'sitemap', 'yaml'])(
    'every deep or large input of the %s parser is read or rejected, and the process ends normally',
    async (parser) => {
      await builtGalley();
      const args = ['test/exporter/feed-parser.js', parser];
      const { stdout } = await run(await nodeProgram(version), args, { timeout: HANGS_AFTER_MS, maxBuffer: 2 ** 26 });
      const outcomes: unknown = JSON.parse(stdout);
      expect(outcomes).toEqual(Array(40).fill(expect.stringMatching(/^(read|unread: .+|rejected: .+)$/)));
    },
    HANGS_AFTER_MS,
  );
});
