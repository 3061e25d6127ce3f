import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { type HttpService, serve } from '../../cli/serve.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';

const FREE_PORTS = { PORT: '0', PLATFORM_PORT: '0', DEPLOYMENT_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };

let folder: string;
let variables: Record<string, string>;
let hosted: HttpService;
let up: RunningGalley | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-hosted-'));
  hosted = await serve(express(), { host: '127.0.0.1', port: 0, variable: 'hosted' });
  variables = { ...FREE_PORTS, GALLEY_HOME: join(folder, 'state'), ADMIN_API_URL: hosted.url };
  await writeFile(join(folder, 'galley.yaml'), 'sites:\n  handbook:\n    domain: docs.example.com\n');
});

afterEach(async () => {
  await up?.stop('SIGKILL');
  up = undefined;
  await hosted.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('galley up with an Admin API elsewhere', () => {
  test('starts no platform and no database, and says where keys and projects are', async () => {
    variables.ADMIN_API_KEY = 'a key of that service';
    up = await startGalley(['up'], variables, folder);
    expect(up.ready).toContain(`admin-api ${hosted.url}`);
    expect(up.ready).not.toContain('platform');
    expect(await readdir(join(folder, 'state'))).not.toContain('database');

    const status = await galley(['sites', 'status'], variables, folder);
    expect({ code: status.code, stderr: status.stderr }).toEqual({ code: 0, stderr: '' });
    const keys = await galley(['keys', 'list'], variables, folder);
    expect({ code: keys.code, stderr: keys.stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^galley: .*runs no platform.*ADMIN_API_URL\n$/),
    });
    expect((await up.stop('SIGINT')).code).toBe(0);
  });

  test('wants the key of that service', async () => {
    const { code, stderr } = await galley(['up'], variables, folder);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^galley: adminApi\.key: .*ADMIN_API_KEY/),
    });
  });
});
