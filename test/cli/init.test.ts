import { access, chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { sources } from '../../api/webhooks/registry.ts';
import { checkAdminApi } from '../../cli/checks/admin-api.ts';
import { checkSiteOrigin } from '../../cli/checks/site-origin.ts';
import { checkTemporal } from '../../cli/checks/temporal.ts';
import { checkValuesFile } from '../../cli/checks/values-file.ts';
import { address, newSecret, secretProblem, sourceNames } from '../../cli/init/answers.ts';
import { withVariables } from '../../cli/init/env-text.ts';
import { withDefaults } from '../../cli/init/from-options.ts';
import { renderConfig, variablesOf } from '../../cli/init/render-config.ts';
import { isApiKeyText } from '../../platform/admin/api-key-text.ts';
import { parseGalleyConfig } from '../../programs/config/galley-yaml.ts';
import { loadEnvFile } from '../../programs/settings/env-file.ts';
import { galleyHere } from '../helpers/galley.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();
const file = (name: string): string => join(folder, name);
const read = async (name: string): Promise<string> => await readFile(file(name), 'utf8');

let site: HttpSite;
beforeAll(async () => {
  site = await startHttpSite((request, response) => {
    const { authorization } = request.headers;
    if (request.url === '/') response.end('<title>Home</title>');
    else if (authorization !== 'Bearer galley_good') response.writeHead(401).end();
    // The probe: a start with an invalid body.
    else response.writeHead(request.url === '/v1/static-export/jobs' ? 400 : 404).end();
  });
});
afterAll(() => site.close());

const init = async (...args: string[]) => await galleyHere(['init', '--yes', ...args], {}, folder);

describe('galley init without a terminal', () => {
  test('writes a valid galley.yaml and a private .env, which other commands read, and keeps existing files', async () => {
    await writeFile(file('.env'), '# mine\nOTHER=1\n');
    const { code, stdout, stderr } = await init('--domain', 'docs.example.com', '--origin', site.origin);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('http://127.0.0.1:3000/webhooks/docs/contentful');
    expect(stdout).toMatch(/^ *galley up$/m);
    // A path stays whole, however long it is.
    expect(stdout.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '))).toEqual([]);
    const variables = parseEnv(await read('.env'));
    expect(variables).toEqual({ OTHER: '1', CONTENTFUL_SECRET: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await read('.env')).toMatch(/^# mine\n/);
    expect((await stat(file('.env'))).mode & 0o077).toBe(0);
    const check = await galleyHere(['config', 'check'], {}, folder);
    expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('sites docs') });

    const again = await init('--domain', 'other.example.com', '--origin', site.origin);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--overwrite') });
    expect(await read('galley.yaml')).toContain('docs.example.com');
    const other = ['init', '--yes', '--domain', 'other.example.com', '--origin', site.origin, '--overwrite', '--json'];
    const replaced = await galleyHere(other, { npm_command: 'exec' }, folder);
    expect(JSON.parse(replaced.stdout)).toMatchObject({
      written: [file('galley.yaml'), file('.env')],
      secretVariable: 'CONTENTFUL_SECRET',
      next: ['npx galley up', 'npx galley webhook send docs contentful'],
    });
    expect(parseEnv(await read('.env'))).toEqual(variables);
  });

  test('writes nothing if an answer fails its check, unless forced', async () => {
    const args = ['--domain', 'docs.example.com', '--admin-api-url', site.origin, '--admin-api-key', 'galley_bad'];
    const { code, stdout } = await init(...args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}admin-api: .* rejects the key \(401\)$/m);
    await expect(access(file('galley.yaml'))).rejects.toThrow();
    expect((await init(...args, '--skip-checks')).code).toBe(0);
    expect(parseEnv(await read('.env'))).toMatchObject({ ADMIN_API_URL: site.origin, ADMIN_API_KEY: 'galley_bad' });
  });

  test('says what was not written, and how to write it elsewhere', async () => {
    const args = ['init', '--yes', '--skip-checks', '--domain', 'docs.example.com'];
    const { code, stderr } = await galleyHere(args, { GALLEY_CONFIG: '/sys/galley.yaml' }, folder);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /\/sys\/galley\.yaml was not written: .*\. Run galley init in another folder, or set/,
      ),
    });
  });

  test.each([
    [[], /^galley: --domain: expected the domain/],
    [['--domain', 'https://user@docs.example.com/'], /--domain: expected a domain or a URL, such as/],
    [
      ['--domain', 'http://127.0.0.1:8080'],
      /--domain: expected the domain of the site, beside its server: .* --origin http:\/\/127\.0\.0\.1:8080$/m,
    ],
    [['--domain', 'd.example.com', '--source', 'nonsense'], /--source: expected one of contentful,/],
    [['--domain', 'd.example.com', '--source', 'standard', '--secret', '!'], /--secret: expected whsec_/],
    [['--domain', 'd.example.com', '--admin-api-url', 'http://x'], /--admin-api-key: expected/],
    [['--domain', 'd.example.com', '--project-id', 'prj_1'], /--project-id: expected beside --admin-api-url/],
  ])('exits with 2 for %j', async (args, message) => {
    const { code, stderr } = await init(...args);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  test('requires --yes without a terminal', async () => {
    const { code, stderr } = await galleyHere(['init'], {}, folder);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('add --yes') });
  });
});

test.each([
  ['docs.example.com', { domain: 'docs.example.com' }],
  [' HTTPS://Docs.Example.com/ ', { domain: 'docs.example.com' }],
  ['docs.example.com:8443', { domain: 'docs.example.com', origin: 'https://docs.example.com:8443' }],
  ['http://docs.example.com:8080', { domain: 'docs.example.com', origin: 'http://docs.example.com:8080' }],
  ['localhost:8080', { origin: 'http://localhost:8080' }],
  ['http://127.0.0.1:8080/', { origin: 'http://127.0.0.1:8080' }],
  ['[::1]:80', { origin: 'http://[::1]' }],
  ['docs.example.com/en', { domain: 'docs.example.com' }],
  ['https://docs.example.com/en/index.html?a=b#top', { domain: 'docs.example.com' }],
  ['https://user@docs.example.com', undefined],
  ['', undefined],
  ['a b', undefined],
])('the address %j is %j', (text, expected) => {
  expect(address.safeParse(text).data).toEqual(expected);
});

describe('galley init --compose', () => {
  const FILES = ['.env', 'sites.env', 'agent.env', 'galley.yaml'];
  const all = async () => await Promise.all(FILES.map(async (name) => [name, await read(name)]));
  const compose = async (...args: string[]) => await init('--compose', '--skip-checks', '--json', ...args);

  test('fills in what docker-compose.yml requires; a second run changes nothing', async () => {
    const { code, stdout } = await compose('--domain', 'docs.example.com', '--public-host', 'galley.internal');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      written: FILES.map(file),
      webhookUrl: 'http://127.0.0.1:3000/webhooks/docs/contentful',
    });
    const env = parseEnv(await read('.env'));
    const required = [...(await readFile('docker-compose.yml', 'utf8')).matchAll(/\$\{(\w+):\?/g)].map(
      ([, name = '']) => name,
    );
    expect(required.length).toBeGreaterThan(8);
    expect(required.filter((name) => !env[name])).toEqual([]);
    const passwords = Object.entries(env).filter(([name]) => /PASSWORD|KEY|TOKEN/.test(name));
    expect(new Set(passwords.map(([, value]) => value)).size).toBe(5);
    expect(passwords.filter(([, value]) => !/^[0-9a-f]{48}$/.test(value ?? ''))).toEqual([]);
    expect(env).toMatchObject({
      COMPOSE_PROFILES: 'platform',
      S3_PUBLIC_URL: 'http://galley.internal:7070',
      DEPLOYMENT_VALUES: '--values /values/docs.yaml',
    });
    expect(isApiKeyText(parseEnv(await read('sites.env')).ADMIN_API_KEY ?? '')).toBe(true);
    const modes = FILES.map(async (name) => ((await stat(file(name))).mode & 0o777).toString(8));
    expect(await Promise.all(modes)).toEqual(['600', '600', '600', '644']);

    const before = await all();
    const again = await compose('--domain', 'docs.example.com');
    expect(JSON.parse(again.stdout)).toMatchObject({ written: [], secretVariable: 'CONTENTFUL_SECRET' });
    expect(await all()).toEqual(before);
  });

  test('adds a site with a secret of its own, and leaves the rest as it was', async () => {
    await compose('--domain', 'docs.example.com');
    const first = parseEnv(await read('sites.env'));
    await writeFile(file('galley.yaml'), (await read('galley.yaml')).replace('sites:', '# mine\nsites:'));
    const added = await compose('--domain', 'b.example.com', '--site', 'hand-book');
    expect(JSON.parse(added.stdout)).toMatchObject({ secretVariable: 'HAND_BOOK_CONTENTFUL_SECRET' });
    expect(parseEnv(await read('.env')).DEPLOYMENT_VALUES).toBe(
      '--values docs.example.com=/values/docs.yaml --values b.example.com=/values/hand-book.yaml',
    );
    const env = parseEnv(await read('sites.env'));
    expect(env).toMatchObject(first);
    expect(env.HAND_BOOK_CONTENTFUL_SECRET).not.toBe(first.CONTENTFUL_SECRET);
    const text = await read('galley.yaml');
    expect(text).toContain('# mine\n');
    const { sites } = parseGalleyConfig({ text, file: '/etc/galley/galley.yaml', env });
    expect(Object.entries(sites).map(([name, { domain, projectId }]) => [name, domain, projectId])).toEqual([
      ['docs', 'docs.example.com', 'prj_docs'],
      ['hand-book', 'b.example.com', 'prj_hand-book'],
    ]);
  });

  test('adds what an older release did not have, and the values files that galley.yaml names', async () => {
    await compose('--domain', 'docs.example.com');
    const config = (await read('galley.yaml')).replace('values/docs.yaml', 'values/handbook.yaml');
    await writeFile(file('galley.yaml'), config);
    await writeFile(file('.env'), 'POSTGRES_PASSWORD=old\n');
    expect((await compose('--domain', 'docs.example.com')).code).toBe(0);
    expect(parseEnv(await read('.env'))).toMatchObject({
      POSTGRES_PASSWORD: 'old',
      COMPOSE_PROFILES: 'platform',
      DEPLOYMENT_VALUES: '--values /values/handbook.yaml',
    });
    expect(await read('galley.yaml')).toBe(config);
  });

  test('uses a hosted Admin API instead of the platform', async () => {
    await compose('--domain', 'docs.example.com', '--admin-api', site.origin, '--admin-api-key', 'galley_good');
    expect(parseEnv(await read('.env')).COMPOSE_PROFILES).toBe('');
    expect(parseEnv(await read('sites.env'))).toMatchObject({
      ADMIN_API_URL: site.origin,
      ADMIN_API_KEY: 'galley_good',
    });
  });

  test.each([
    [
      ['--compose', '--domain', 'd.example.com', '--temporal-address', 'a:1'],
      /--temporal-address has no effect with --compose/,
    ],
    [
      ['--compose', '--domain', 'd.example.com', '--public-host', 'http://a'],
      /--public-host: expected a name or an address/,
    ],
    [['--domain', 'd.example.com', '--public-host', 'a'], /--public-host: expected beside --compose/],
  ])('exits with 2 for %j', async (args, message) => {
    const { code, stderr } = await init(...args);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  test('refuses another domain for a site that is there, and writes nothing', async () => {
    await compose('--domain', 'docs.example.com');
    const before = await all();
    const { code, stderr } = await init('--compose', '--skip-checks', '--domain', 'b.example.com');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--site: galley.yaml has docs') });
    expect(await all()).toEqual(before);
  });
});

test('the written configuration is valid for every source and any path', () => {
  for (const source of sourceNames()) {
    const valuesFile = `va: #"\${X}/${source}.yaml`;
    const secret = newSecret(source);
    expect(secretProblem(source, secret)).toBeUndefined();
    const answers = withDefaults({ site: 'true', domain: '1.2', source, valuesFile, origin: 'http://127.0.0.1:1' });
    const env = { ADMIN_API_URL: 'http://x', ADMIN_API_KEY: 'k', ...variablesOf(answers, secret) };
    const { sites } = parseGalleyConfig({ text: renderConfig(answers), file: '/etc/galley.yaml', env });
    expect(sites.true).toMatchObject({
      domain: '1.2',
      origin: 'http://127.0.0.1:1',
      webhooks: { [source]: { secret } },
      export: { deployments: [{ valuesFile: `/etc/${valuesFile}` }] },
    });
  }
  expect([...sources.keys()].filter((name) => !sourceNames().includes(name))).toEqual(['hmac']);
});

describe('.env', () => {
  test('is read beside galley.yaml, and the environment wins', async () => {
    await mkdir(file('conf'));
    await writeFile(file('conf/.env'), 'FIRST=file\nSECOND="of the # file"\nEMPTY=file\n');
    const environment: NodeJS.ProcessEnv = { GALLEY_CONFIG: file('conf/galley.yaml'), FIRST: 'mine', EMPTY: '' };
    loadEnvFile(environment);
    expect(environment.SECOND).toBeUndefined();
    await writeFile(file('conf/galley.yaml'), '');
    loadEnvFile(environment);
    expect(environment).toMatchObject({ FIRST: 'mine', SECOND: 'of the # file', EMPTY: '' });
  });

  test.each(['plain', 'with space', "it's", 'a "b" #c', '$HOME`x`', '=', 'a\\n', ' x '])(
    'keeps the value %j',
    (value) => {
      expect(parseEnv(withVariables('# c\nexport NAME=old\nLAST=1', { NAME: value }))).toEqual({
        NAME: value,
        LAST: '1',
      });
    },
  );

  test('rejects a value that it cannot contain', () => {
    expect(() => withVariables('', { NAME: '\'"`' })).toThrow('NAME: expected one line');
  });
});

describe('the checks of answers', () => {
  test.each([
    [200, {}, 'ok', 'responds 200'],
    [301, { location: '/en/' }, 'ok', 'redirects to'],
    [301, { location: 'https://www.example.com/' }, 'warn', 'www.example.com, which is not exported'],
    [401, {}, 'fail', 'requires a login'],
    [404, {}, 'fail', 'responds 404'],
    [503, {}, 'warn', 'responds 503'],
  ])('an origin that responds %i %j', async (status, headers, expected, message) => {
    const origin = await startHttpSite((_, response) => response.writeHead(status, headers).end());
    const found = await checkSiteOrigin('origin', { domain: 'docs.example.com', origin: origin.origin });
    await origin.close();
    expect(found).toMatchObject({ status: expected, message: expect.stringContaining(message) });
  });

  test('the Admin API: a valid key, a wrong one, a server that accepts any key, and none', async () => {
    const check = async (url: string, key: string) => (await checkAdminApi({ url, key })).status;
    expect(await check(site.origin, 'galley_good')).toBe('ok');
    expect(await check(site.origin, 'galley_bad')).toBe('fail');
    const other = await startHttpSite((_, response) => response.writeHead(404).end());
    expect(await check(other.origin, 'any')).toBe('warn');
    await other.close();
    expect(await check(other.origin, 'any')).toBe('fail');
  });

  test('a values file that is not a file, is invalid, or is below a file', async () => {
    await writeFile(file('values.yaml'), 'staticExport: {enabled: perhaps}\n');
    const check = async (name: string) => await checkValuesFile('values file', file(name));
    expect(await check('values.yaml')).toMatchObject({ status: 'fail', message: expect.stringContaining('enabled') });
    expect(await check('values.yaml/x.yaml')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('ENOTDIR'),
    });
    expect(await check('.')).toMatchObject({ status: 'fail', message: expect.stringContaining('EISDIR') });
    expect(await check('new/folder/values.yaml')).toMatchObject({ status: 'ok' });
    await writeFile(file('values.yaml'), '');
    expect(await check('values.yaml')).toMatchObject({ status: 'ok' });
    await chmod(file('values.yaml'), 0o444);
    // Root may write any file.
    expect((await check('values.yaml')).status).toBe(process.getuid?.() === 0 ? 'ok' : 'fail');
  });

  test('Temporal that does not respond', async () => {
    const settings = { variables: { TEMPORAL_ADDRESS: '127.0.0.1:1' }, encryptionKeys: [] };
    const [finding] = await checkTemporal({ settings });
    expect(finding).toMatchObject({
      status: 'fail',
      message: '127.0.0.1:1 does not respond (connect ECONNREFUSED 127.0.0.1:1)',
    });
  });
});
