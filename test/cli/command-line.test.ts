import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../helpers/free-port.ts';
import { galleyHere } from '../helpers/galley.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

describe('the galley command', () => {
  test('lists its commands with --help and exits with 0', async () => {
    const { code, stdout } = await galleyHere(['--help']);
    expect(code).toBe(0);
    for (const command of ['deployment', 'sites', 'config']) expect(stdout).toContain(command);
    expect(stdout).toContain('Exit codes: 0 done, 1 the work failed, 2');
  });

  test.each([
    [[], /Usage: galley/],
    [['nonsense'], /unknown command 'nonsense'\n\(galley --help lists the commands\)/],
    [['projects', 'nonsense'], /unknown command 'nonsense'\n\(galley projects --help lists its commands\)/],
    [['exports', 'show'], /argument 'job'\n\(galley exports show --help lists its arguments and options\)/],
    [['deployment'], /--values: expected a file/],
    [['deployment', '--values'], /argument missing/],
    [['sites', 'status', '--nonsense'], /unknown option '--nonsense'/],
    [['sites'], /Usage: galley sites/],
    [['export', 'docs.example.com'], /--out <path>/],
    [['export', 'https://docs.example.com/', '--out', 'x'], /expected a domain name/],
    [['export', 'docs.example.com', '--out', 'x.zip'], /--out: .*x\.zip: expected a name that ends with \.tar\.gz/],
    [['export', 'docs.example.com', '--out', process.cwd()], /--out: the folder .*holds something else/],
    [['export', 'docs.example.com', '--out', `${process.cwd()}/package.json/below/x`], /--out: .*is no folder/],
  ])('exits with 2 and a clear message for: galley %j', async (args, message) => {
    const { code, stderr, stdout } = await galleyHere(args, {}, folder);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('config check lists the sites of a correct galley.yaml', async () => {
    await writeFile(join(folder, 'own.yaml'), 'sites:\n  handbook:\n    domain: docs.example.com\n');
    const variables = { GALLEY_CONFIG: 'own.yaml', ADMIN_API_URL: 'http://x', ADMIN_API_KEY: 'k' };
    const { code, stdout } = await galleyHere(['config', 'check'], variables, folder);
    expect(stdout).toContain('sites handbook');
    expect(code).toBe(0);
  });

  test('config check accepts every configuration of galley up, and reports what other programs need', async () => {
    await writeFile(join(folder, 'galley.yaml'), 'sites:\n  handbook:\n    domain: docs.example.com\n');
    const { code, stdout, stderr } = await galleyHere(['config', 'check', '--json'], {}, folder);
    expect({ code, printed: JSON.parse(stdout) }).toEqual({
      code: 0,
      printed: { path: join(folder, 'galley.yaml'), sites: ['handbook'] },
    });
    expect(stderr).toContain('also need ADMIN_API_URL and ADMIN_API_KEY');
  });

  test('config check finds what contradicts itself', async () => {
    const site = 'domain: a.example, webhooks: {token: {secret: short}}, export: {quietPeriod: 5m, maxWait: 60s}';
    await writeFile(join(folder, 'galley.yaml'), `sites: {docs: {${site}}}\n`);
    const { code, stdout, stderr } = await galleyHere(['config', 'check'], { OPERATOR_TOKEN: 'token' }, folder);
    expect({ code, stdout, lines: stderr.split('\n') }).toEqual({
      ...{ code: 2, stdout: '' },
      lines: [
        expect.stringMatching(/sites\.docs\.export\.quietPeriod: expected at most maxWait, but 5m is above \S+$/),
        expect.stringMatching(/sites\.docs\.webhooks\.token\.secret: expected at least 16 characters/),
        expect.stringMatching(/OPERATOR_TOKEN: expected at least 16 characters/),
        '',
      ],
    });
  });

  test('config check says where a setting of the project has an effect', async () => {
    const site =
      'sites:\n  handbook:\n    domain: docs.example.com\n    export: {search: pagefind, markdown: on, prove: 20}\n';
    await writeFile(join(folder, 'own.yaml'), site);
    const check = (variables: Record<string, string>) =>
      galleyHere(['config', 'check'], { GALLEY_CONFIG: 'own.yaml', ...variables }, folder);
    expect((await check({})).stderr).not.toMatch(/search|prove/);
    const { code, stderr } = await check({ ADMIN_API_URL: 'http://x', ADMIN_API_KEY: 'k' });
    for (const setting of ['--search pagefind', '--markdown on', '--prove 20'])
      expect(stderr).toContain(`Use galley projects set --project PROJECT ${setting} at the service`);
    expect(code).toBe(0);
  });

  test('a service that does not respond is exit code 1 with one sentence', async () => {
    const port = await freePort();
    const variables = { OPERATOR_TOKEN: 'token', PORT: String(port), GALLEY_HOME: folder };
    const { code, stderr } = await galleyHere(['sites', 'status'], variables, folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^galley: Nothing listens at http://127.0.0.1:${port}\\. .*\\n$`));
  });
});
