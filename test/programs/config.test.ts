import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closest, editDistance } from '../../contract/closest-word.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { TARGET_KINDS, TARGETS } from '../../contract/target-kind.ts';
import { loadGalleyConfig, parseGalleyConfig } from '../../programs/config/galley-yaml.ts';
import fc from '../helpers/fast-check.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const env = {
  ADMIN_API_URL: 'http://127.0.0.1:3100',
  ADMIN_API_KEY: 'galley_key',
  CONTENTFUL_SECRET: 'c'.repeat(64),
  GITHUB_WEBHOOK_SECRET: 'octo',
};

const FULL = `
adminApi: {url: "\${ADMIN_API_URL}", key: "\${ADMIN_API_KEY}"}
smtp: {url: "smtp://127.0.0.1:1025", from: "Galley <galley@example.com>"}
operators: [ops@example.com]
sites:
  handbook:
    domain: docs.example.com
    projectId: prj_handbook
    webhooks:
      contentful: {secret: "\${CONTENTFUL_SECRET}"}
      github: {secret: ["\${GITHUB_WEBHOOK_SECRET}", "older"], branch: release}
    export:
      timeout: 6h
      quietPeriod: 5s
      maxWait: 60s
      whenBusy: queue
      refreshMargin: 20%
      deployments:
        - valuesFile: deploy/values.yaml
    agent:
      - name: changelog
        on: publish
        prompt: "Update the changelog for {{ event.title }}."
        reviewers: [ada@example.com]
`;

function parse(text: string, variables: Record<string, string> = env) {
  return parseGalleyConfig({ text, file: '/etc/galley/galley.yaml', env: variables });
}

function problemsOf(text: string, variables: Record<string, string> = env): readonly string[] {
  try {
    parse(text, variables);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  throw new Error('expected a ConfigurationError');
}

/** A configuration with one site whose `export` is given. */
const withExport = (text: string) => `sites:\n  handbook:\n    domain: docs.example.com\n    export:\n      ${text}\n`;
const withWebhook = (text: string) =>
  `sites:\n  handbook:\n    domain: docs.example.com\n    webhooks:\n      ${text}\n`;

describe('galley.yaml', () => {
  it('is read with variables replaced and durations in milliseconds', () => {
    const config = parse(FULL);
    expect(config.adminApi).toEqual({ url: 'http://127.0.0.1:3100', key: 'galley_key', staticExport: 'auto' });
    expect(config.sites.handbook?.export).toEqual({
      timeout: 21_600_000,
      quietPeriod: 5_000,
      maxWait: 60_000,
      whenBusy: 'queue',
      refreshMargin: 0.2,
      tellAfter: 600_000,
      deployments: [{ valuesFile: '/etc/galley/deploy/values.yaml' }],
    });
    expect(config.sites.handbook?.webhooks.github).toEqual({ secret: ['octo', 'older'], branch: 'release' });
    expect(config.sites.handbook?.agent[0]).toMatchObject({ quietPeriod: 30_000, maxPerHour: 6 });
  });

  it('gets the Admin API from the environment if the section is missing', () => {
    expect(parse('sites: {}').adminApi).toEqual({
      url: 'http://127.0.0.1:3100',
      key: 'galley_key',
      staticExport: 'auto',
    });
    expect(problemsOf('sites: {}', {})).toEqual([
      'adminApi.url: expected the environment variable ADMIN_API_URL to be set',
      'adminApi.key: expected the environment variable ADMIN_API_KEY to be set',
    ]);
  });

  it('may be empty', () => {
    expect(parse('').sites).toEqual({});
    expect(parse('# nothing yet\n').sites).toEqual({});
  });

  const duration = 'quietPeriod: expected a duration such as 500ms, 10s, 5m, 24h or 2d';
  it.each([
    ['quietPerid: 5s', 'quietPerid: unknown key: did you mean quietPeriod?'],
    ['quietPeriod: 5 seconds', duration],
    ['quietPeriod: 5', duration],
    ['refreshMargin: 95%', 'refreshMargin: expected 1% to 90%'],
    ['guards: {maxShrink: 0}', 'guards.maxShrink: expected text, got a number'],
    ['deployments: [{host: eu}]', `deployments.0.valuesFile: expected one of ${TARGET_KINDS.join(', ')}`],
    [
      'deployments: [{valuesFile: a, s3: "s3://bucket"}]',
      'deployments.0.s3: expected one target per entry: it has valuesFile already',
    ],
    [
      'deployments: [{s3: "s3://bucket", host: eu}]',
      `deployments.0.host: expected only with ${TARGET_KINDS.filter((kind) => TARGETS[kind].isOnDisk).join(', ')}: any worker can write to s3`,
    ],
    ['deployments: [{s3: "s3://bucket?key=a"}]', 'deployments.0.s3: expected s3://bucket/prefix?endpoint=…&region=…'],
    [
      'deployments: [{git: {repository: "https://:b@c.test/d", path: e}}]',
      'deployments.0.git.repository: expected a URL without a password: set token instead',
    ],
    [
      'deployments: [{git: {repository: "https://c.test/d", path: ../e}}]',
      'deployments.0.git.path: expected a path in it',
    ],
    [
      'deployments: [{http: {url: "https://a.test"}}]',
      'deployments.0.http.secret: expected a secret (text) or a list of secrets',
    ],
    [
      'deployments: [{helm: {release: -x, namespace: a, chart: b}}]',
      'deployments.0.helm.release: expected a name of Kubernetes',
    ],
    ['deployments: [{valuesFile: a, statusUrl: x}]', 'deployments.0.statusUrl: expected an http(s) URL'],
    ['deployments: [{valuesFile: a, rollback: auto}]', 'deployments.0.rollback: expected only with a statusUrl'],
    ['deployments: [{valuesFile: a, name: " "}]', 'deployments.0.name: expected a text that is not empty'],
    ['deployments: [{valuesFile: a, wave: 0}]', 'deployments.0.wave: expected at least 1'],
    ['deployments: [{valuesFile: a, wave: 101}]', 'deployments.0.wave: expected at most 100'],
    ['deployments: [{valuesFile: a, wave: 1.5}]', 'deployments.0.wave: expected a whole number, got a number'],
    ['deployments: [{valuesFile: a, approve: "yes"}]', 'deployments.0.approve: expected true or false, got text'],
    ['deployments: [{valuesFile: a, url: docs.test}]', 'deployments.0.url: expected an http(s) URL'],
    [
      'deployments: [{valuesFile: a, name: eu}, {valuesFile: b, name: eu}]',
      'deployments.1.name: expected a name of its own, but another deployment of the site has it',
    ],
    [
      'deployments: [{valuesFile: a, name: /etc/galley/b}, {valuesFile: b}]',
      'deployments.0.name: expected a name of its own, but another deployment of the site has it',
    ],
    ['whenBusy: wait', 'whenBusy: expected queue or cancel'],
  ])('names the key, the line and what was expected for the export %s', (text, problem) => {
    expect(problemsOf(withExport(text))).toEqual([`sites.handbook.export.${problem} (line 5)`]);
  });

  it.each([
    ['{max: 0}', '.max: expected a number from 1 to 20'],
    ['{max: 21}', '.max: expected a number from 1 to 20'],
    ['{max: 1.5}', '.max: expected a whole number'],
    ['{max: 3, min: 1}', '.min: unknown key: expected one of max'],
    ['{}', '.max: expected a number'],
    ['3', ': expected a mapping'],
  ])('rejects the follow-ups %s', (text, problem) => {
    const rule = `      - {name: a, on: publish, prompt: b, followUps: ${text}}`;
    const config = `sites:\n  handbook:\n    domain: docs.example.com\n    agent:\n${rule}\n`;
    const [only = '', ...more] = problemsOf(config);
    expect(only).toContain(`sites.handbook.agent.0.followUps${problem}`);
    expect(more).toEqual([]);
  });

  it.each([
    ['contentfull: {secret: x}', 'contentfull: unknown key: did you mean contentful?'],
    ['github: {branch: main}', 'github.secret: expected a secret (text) or a list of secrets'],
    ['github:', 'github: expected a mapping, got nothing'],
    ['github: {secret: []}', 'github.secret: expected a list that is not empty'],
    ['github: {secret: [a, ""]}', 'github.secret.1: a secret must not be empty: check that its variable is set'],
    [
      'standard: {secret: "whsec_"}',
      'standard.secret: expected whsec_ and the key in base64, or whpk_ and the public key in base64',
    ],
    [
      'standard: {secret: "whsec_not base64"}',
      'standard.secret: expected whsec_ and the key in base64, or whpk_ and the public key in base64',
    ],
    [`github: {secret: "\${NOT_SET}"}`, 'github.secret: expected the environment variable NOT_SET to be set'],
    [`github: {secret: "\${a-b}"}`, `github.secret: expected \${NAME} or the escape $\${, got \${a-b}`],
  ])('names the key, the line and what was expected for the webhook %s', (text, problem) => {
    expect(problemsOf(withWebhook(text))).toEqual([`sites.handbook.webhooks.${problem} (line 5)`]);
  });

  it.each([
    ['zzzzzzzz: 1', 'zzzzzzzz: unknown key: expected one of adminApi, smtp, operators, notify, forge, sites (line 1)'],
    ['sites: {a: {}}', 'sites.a.domain: expected text, but the key is missing (line 1)'],
    ['sites: {a: {domain: "https://a.b"}}', 'sites.a.domain: expected a domain name such as docs.example.com (line 1)'],
    ['sites: {"a/b": {domain: a.b}}', 'sites.a/b: expected letters, digits and "-", at most 63 characters (line 1)'],
    ['sites: []', 'sites: expected a mapping, got a list (line 1)'],
    ['- 1', 'galley.yaml: expected a mapping with keys such as adminApi and sites'],
    ['adminApi: {url: "ftp://x", key: k}', 'adminApi.url: expected an http(s) URL (line 1)'],
    ['notify: [{slack: 5}]', 'notify.0.slack: expected an http(s) URL (line 1)'],
    ['notify: [{}]', 'notify.0.slack: expected slack: URL or webhook: URL (line 1)'],
    ['notify: [{slack: "https://x.test", onn: [failed]}]', 'notify.0.onn: unknown key: did you mean on? (line 1)'],
    [
      'notify: [{webhook: "https://x.test"}]',
      'notify.0.secret: expected the secret that signs: whsec_ and the key in base64 (line 1)',
    ],
    [
      'notify: [{webhook: "https://x.test", secret: "not base64!"}]',
      'notify.0.secret: expected whsec_ and the key in base64 (line 1)',
    ],
    [
      'notify: [{webhook: "https://x.test", secret: [dGVzdA==, ""]}]',
      'notify.0.secret.1: a secret must not be empty: check that its variable is set (line 1)',
    ],
    [
      'notify: [{slack: "https://x.test", secret: dGVzdA==}]',
      'notify.0.secret: expected no secret: only webhook is signed (line 1)',
    ],
    [
      'notify: [{slack: "https://x.test", webhook: "https://y.test", secret: dGVzdA==}]',
      'notify.0.webhook: expected one URL: slack or webhook, not both (line 1)',
    ],
    [
      'notify: [{slack: "https://x.test", on: [publish]}]',
      'notify.0.on.0: expected any of published, served, failed, recovered, pull-request (line 1)',
    ],
    ['notify: [{slack: "https://x.test", on: []}]', 'notify.0.on: expected a list that is not empty (line 1)'],
    [
      'notify: [{slack: "https://user:pass@x.test"}]',
      'notify.0.slack: expected a URL without user name and password (line 1)',
    ],
    [
      'notify: [{slack: "https://x.test"}, {webhook: "https://x.test", secret: dGVzdA==}]',
      'notify.1.webhook: expected each URL once (line 1)',
    ],
    [
      `notify: [{slack: "\${SLACK_URL}"}]`,
      'notify.0.slack: expected the environment variable SLACK_URL to be set (line 1)',
    ],
  ])('names the key, the line and what was expected for %s', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('reports every problem at once', () => {
    expect(problemsOf('adminApi: {url: 1}\nsites: {a: {}, b: {domain: "x y"}}\n')).toHaveLength(4);
  });

  it('reports the position of a YAML error', () => {
    const [problem] = problemsOf('sites:\n  handbook: {domain: "docs.example.com\n');
    expect(problem).toMatch(/^galley\.yaml: expected YAML: .*\(line \d+, column \d+\)$/);
    expect(problemsOf('sites: {}\nsites: {}\n')[0]).toContain('line 2');
  });

  it('rejects an alias bomb', () => {
    const levels = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 9; i++)
      levels.push(`${'abcdefghij'[i]}: &${'abcdefghij'[i]} [${`*${'abcdefghij'[i - 1]},`.repeat(10)}]`);
    expect(problemsOf(levels.join('\n'))[0]).toContain('expected YAML');
  });

  it('rejects two sites with the same values file', () => {
    const site = (name: string) =>
      `  ${name}:\n    domain: ${name}.example.com\n    export: {deployments: [{valuesFile: v.yaml}]}\n`;
    expect(problemsOf(`sites:\n${site('a')}${site('b')}`)).toEqual([
      'sites.b.export.deployments.0.valuesFile: expected a file of its own, but site a writes it already (line 7)',
    ]);
  });

  it('never repeats a secret in a message', () => {
    const text = withWebhook('standard: {secret: "whsec_hush hush"}');
    expect(problemsOf(text).join()).not.toContain('hush');
  });

  it('gets no key through __proto__', () => {
    expect(problemsOf('__proto__: {sites: {}}\n')[0]).toContain('__proto__: unknown key');
    expect(Object.hasOwn(Object.prototype, 'sites')).toBe(false);
  });
});

describe('variables', () => {
  it('are data: a value of any content only replaces the text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (value, around) => {
        const plain = around.replaceAll('$', '');
        const text = JSON.stringify({
          sites: { s: { domain: 'a.b', webhooks: { token: { secret: `${plain}\${V}${plain}` } } } },
        });
        expect(parse(text, { ...env, V: value }).sites.s?.webhooks.token?.secret).toBe(plain + value + plain);
      }),
    );
  });

  it('are not replaced after an escape', () => {
    const text = withWebhook(`token: {secret: "$\${NOT_SET} and $plain"}`);
    expect(parse(text).sites.handbook?.webhooks.token?.secret).toBe(`\${NOT_SET} and $plain`);
  });

  it('are read only from the environment, not from inherited properties', () => {
    expect(problemsOf(withWebhook(`token: {secret: "\${toString}"}`))[0]).toContain('variable toString to be set');
  });
});

describe('loadGalleyConfig', () => {
  const folder = temporaryFolder();

  it('runs with no sites if there is no file', async () => {
    expect(await loadGalleyConfig({ path: undefined, env: {} })).toMatchObject({ sites: {}, operators: [] });
  });

  it('names a missing file', async () => {
    await expect(loadGalleyConfig({ path: '/nowhere/galley.yaml', env })).rejects.toMatchObject({
      problems: ['GALLEY_CONFIG: expected a readable file at /nowhere/galley.yaml (ENOENT)'],
    });
  });

  it('resolves values files against the folder of the file', async () => {
    await writeFile(join(folder, 'galley.yaml'), FULL);
    const config = await loadGalleyConfig({ path: join(folder, 'galley.yaml'), env });
    expect(config.sites.handbook?.export.deployments).toEqual([{ valuesFile: join(folder, 'deploy/values.yaml') }]);
  });
});

describe('suggestions', () => {
  it('use a symmetric distance, which is 0 for equal words', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, a)).toBe(0);
      }),
    );
  });

  it('are made only for similar words', () => {
    expect(closest('deploiments', ['deployments', 'timeout'])).toBe('deployments');
    expect(closest('dcos', ['blog', 'docs'])).toBe('docs');
    expect(closest('dsco', ['blog', 'docs'])).toBeUndefined();
    expect(closest('color', ['deployments', 'timeout'])).toBeUndefined();
  });
});
