import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { installOnce } from '../../embedded/install-once.ts';
import { runTool } from '../../embedded/run-tool.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const report = (): void => {};

const folder = emptiedFolder();

async function program(file: string, prints: string): Promise<string> {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, `#!/bin/sh\necho "${prints}"\n`);
  await chmod(file, 0o755);
  return file;
}

describe('installing into the cache', () => {
  test('happens once for concurrent callers, who all get the result', async () => {
    const target = join(folder, 'bin', 'tool');
    let installs = 0;
    const install = async (work: string): Promise<string> => {
      installs += 1;
      await sleep(300);
      await writeFile(join(work, 'made'), 'whole');
      return join(work, 'made');
    };
    const got = await Promise.all([1, 2, 3].map(() => installOnce({ target, report, install })));
    expect(got).toEqual([target, target, target]);
    expect(installs).toBe(1);
    expect(await readFile(target, 'utf8')).toBe('whole');
    expect(await readdir(join(folder, 'bin'))).toEqual(['tool']);
  });

  test('leaves nothing behind if it fails, so that the next call can retry', async () => {
    const target = join(folder, 'bin', 'tool');
    const fail = async (work: string): Promise<string> => {
      await writeFile(join(work, 'half'), 'half');
      throw new Error('no network');
    };
    await expect(installOnce({ target, report, install: fail })).rejects.toThrow('no network');
    expect(await readdir(join(folder, 'bin'))).toEqual([]);
  });
});

describe('locating the Temporal dev server', () => {
  test('prefers a temporal on the PATH', async () => {
    const onPath = await program(join(folder, 'path', 'temporal'), 'temporal version 1.5.1');
    await program(join(folder, 'bin', 'temporal'), 'temporal version 1.0.0');
    expect(await locateDevServer({ cache: folder, path: join(folder, 'path'), report })).toBe(onPath);
  });

  test('ignores another program of that name, and uses the one in the cache', async () => {
    await program(join(folder, 'path', 'temporal'), 'something else');
    const cached = await program(join(folder, 'bin', 'temporal'), 'temporal version 1.5.1');
    expect(await locateDevServer({ cache: folder, path: join(folder, 'path'), report })).toBe(cached);
  });

  test.each([
    ['linux', { XDG_CACHE_HOME: '/x' }, '/x/galley'],
    ['darwin', {}, /Library\/Caches\/galley$/],
    ['linux', {}, /\.cache\/galley$/],
    ['win32', { LOCALAPPDATA: '/local' }, '/local/galley'],
  ] as const)('uses the standard cache folder on %s with %j', (platform, env, expected) => {
    const found = cacheFolder(env, platform);
    if (typeof expected === 'string') expect(found).toBe(expected);
    else expect(found).toMatch(expected);
  });
});

describe('running a tool', () => {
  test("a failure contains the end of the tool's output", async () => {
    const run = runTool({ command: 'sh', args: ['-c', 'echo no such module >&2; exit 3'], timeoutMs: 5_000, report });
    await expect(run).rejects.toThrow(/exited with 3: no such module/);
  });

  test('a missing tool and a timeout are reported', async () => {
    await expect(runTool({ command: 'no-such-tool', args: [], timeoutMs: 5_000, report })).rejects.toThrow(
      /no-such-tool can't be run/,
    );
    await expect(runTool({ command: 'sleep', args: ['60'], timeoutMs: 100, report })).rejects.toThrow(/was ended/);
  });
});
