import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import express from 'express';
import { type HttpService, serve } from '../../cli/serve.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';

const run = promisify(execFile);

const PAGES: Record<string, string> = {
  '/': '<!doctype html><title>Start</title><a href="/guide/">Guide</a>',
  '/guide/': '<!doctype html><title>Guide</title><a href="/">Start</a><img src="/logo.svg" alt="">',
};

let folder: string;
let out: string;
let origin: HttpService;
let variables: Record<string, string>;

async function listing(file: string): Promise<string[]> {
  return (await run('tar', ['-tzf', file])).stdout.trim().split('\n').sort();
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-export-test-'));
  out = join(folder, 'made', 'site.tar.gz');
  variables = { GALLEY_HOME: join(folder, 'state'), LOG_LEVEL: 'error' };
  const site = express();
  site.get(
    '/logo.svg',
    (_request, response) => void response.type('svg').send('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  );
  site.use((request, response, next) => {
    const page = PAGES[request.path];
    if (page === undefined) return next();
    response.type('html').send(page);
  });
  origin = await serve(site, { host: '127.0.0.1', port: 0, variable: 'origin' });
});

afterEach(async () => {
  await origin.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('galley export', () => {
  test('writes the archive by a platform of its own, shows progress, and leaves no state', async () => {
    const args = ['export', 'docs.example.com', '--origin', origin.url, '--out', out];
    // From its source, which is to start all of the platform as the build does.
    const { code, stdout, stderr } = await galley(args, variables, folder, 'source');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/docs\.example\.com 100 % \| 2 pages/) });
    const { size } = await stat(out);
    const summary = ['Left out: nothing', 'Broken links: none', ''];
    expect(stdout.split('\n').slice(1)).toEqual(summary);
    expect(stdout).toMatch(new RegExp(`^\\S+: 2 pages, \\d+ files, ${size} bytes, job se_\\w+\n`));
    expect(await listing(out)).toEqual(
      expect.arrayContaining(['.galley/manifest.json', 'guide/index.html', 'index.html', 'logo.svg']),
    );
    expect(await readdir(folder)).toEqual(['made']);
  });

  test('uses the running up, and a service that is named by its variables', async () => {
    const ports = { PORT: '0', PLATFORM_PORT: '0', DEPLOYMENT_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
    const up: RunningGalley = await startGalley(['up'], { ...variables, ...ports }, folder);
    try {
      const args = ['export', 'docs.example.com', '--out', out];
      const byUp = await galley([...args, '--origin', origin.url], variables, folder);
      expect({ code: byUp.code, stdout: byUp.stdout }).toEqual({ code: 0, stdout: expect.stringContaining('2 pages') });

      const { stdout: key } = await galley(['keys', 'create', '--organization', 'galley'], variables, folder);
      const named = { ...variables, ADMIN_API_URL: /platform (\S+)/.exec(up.ready)?.[1] ?? '' };
      const withKey = { ...named, ADMIN_API_KEY: key.trim() };
      const byService = await galley(args, withKey, folder);
      expect({ code: byService.code, stdout: byService.stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining('2 pages'),
      });

      const refused = await galley(args, { ...named, ADMIN_API_KEY: 'galley_wrong' }, folder);
      expect({ code: refused.code, stderr: refused.stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/401/) });
      const unknown = await galley(['export', 'other.example.com', '--out', out], withKey, folder);
      expect({ code: unknown.code, stderr: unknown.stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/404/) });
      const keyless = await galley(args, named, folder);
      expect({ code: keyless.code, stderr: keyless.stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/^galley: ADMIN_API_KEY: expected/),
      });
      const misplaced = await galley([...args, '--origin', origin.url], withKey, folder);
      expect({ code: misplaced.code, stderr: misplaced.stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/^galley: --origin/),
      });
    } finally {
      await up.stop('SIGTERM');
    }
  });

  test('an origin that does not answer is exit code 1, with the reason and without a file', async () => {
    const args = ['export', 'docs.example.com', '--origin', 'http://127.0.0.1:1', '--out', out];
    const { code, stderr } = await galley(args, variables, folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/galley: The export se_\w+ failed: .+/);
    expect(await readdir(folder)).toEqual([]);
  });
});
