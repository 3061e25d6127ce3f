import { generateKeyPairSync } from 'node:crypto';
import { readSettings, VARIABLE_NAMES } from '../../programs/settings/environment.ts';
import { problemsOf } from './problems-of.ts';

const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });

describe('the variables of the agent', () => {
  test('choose the example agent with the documented limits if none is set', () => {
    expect(readSettings({}).agent).toEqual({
      command: undefined,
      model: 'example',
      timeoutMs: 1_800_000,
      sandbox: true,
      allowedHosts: [],
      environmentNames: [],
      readablePaths: [],
      scratchSizeBytes: 2_147_483_648,
      outputLimitBytes: 10_485_760,
    });
  });

  test('choose a command line, with its variables, paths and limits', () => {
    const { agent } = readSettings({
      AGENT_COMMAND: 'coder --yes',
      AGENT_MODEL: 'coder-2',
      AGENT_TIMEOUT: '5m',
      AGENT_SANDBOX: 'off',
      AGENT_ENV: 'CODER_KEY, HTTPS_PROXY',
      AGENT_READ: '/opt/coder, /etc/coder.json',
      AGENT_SCRATCH_SIZE: '512MiB',
      AGENT_MAX_OUTPUT: '100KiB',
      AGENT_COMMIT_SIGNING_KEY: '/etc/galley/agent_ed25519',
      AGENT_COMMIT_EMAIL: 'galley-bot@example.com',
    });
    expect(agent).toEqual({
      command: 'coder --yes',
      model: 'coder-2',
      timeoutMs: 300_000,
      sandbox: false,
      allowedHosts: [],
      environmentNames: ['CODER_KEY', 'HTTPS_PROXY'],
      readablePaths: ['/opt/coder', '/etc/coder.json'],
      scratchSizeBytes: 536_870_912,
      outputLimitBytes: 102_400,
      signingKeyFile: '/etc/galley/agent_ed25519',
      commitEmail: 'galley-bot@example.com',
    });
  });

  test('list the hosts that an agent may reach, in normalized form', () => {
    const allowed = ' API.Example.com:443, registry.example:80,93.184.216.34:8443 ,[2606:4700:0::1]:443';
    expect(readSettings({ AGENT_NETWORK_ALLOW: allowed }).agent.allowedHosts).toEqual([
      'api.example.com:443',
      'registry.example:80',
      '93.184.216.34:8443',
      '[2606:4700::1]:443',
    ]);
  });

  test('report the program of a command line as the model if none is named', () => {
    expect(readSettings({ AGENT_COMMAND: '/opt/bin/coder --yes' }).agent.model).toBe('coder');
  });

  test.each([
    [{ AGENT_SANDBOX: 'no' }, /^AGENT_SANDBOX: expected on or off/],
    [{ AGENT_TIMEOUT: '30' }, /^AGENT_TIMEOUT: expected a duration/],
    [{ AGENT_TIMEOUT: '8d' }, /^AGENT_TIMEOUT: expected a duration of at most 7d/],
    [{ AGENT_SCRATCH_SIZE: '2 GB' }, /^AGENT_SCRATCH_SIZE: expected a size such as/],
    [{ AGENT_MAX_OUTPUT: '0B' }, /^AGENT_MAX_OUTPUT: expected a size such as/],
    [{ AGENT_SCRATCH_SIZE: '9999999TiB' }, /^AGENT_SCRATCH_SIZE: expected a size such as/],
    [{ AGENT_ENV: 'A,,B' }, /^AGENT_ENV: expected names of variables/],
    [{ AGENT_ENV: 'AWS_SECRET_ACCESS_KEY', OBJECT_STORE_URL: 's3://bucket' }, /^AGENT_ENV: AWS_SECRET_ACCESS_KEY is/],
    [{ AGENT_COMMIT_EMAIL: 'bot' }, /^AGENT_COMMIT_EMAIL: expected a mail address/],
    [{ AGENT_READ: '/opt,coder' }, /^AGENT_READ: expected absolute paths/],
    [{ AGENT_ENV: 'HOME' }, /^AGENT_ENV: HOME is set for each run/],
    [{ AGENT_SANDBOX: 'off', AGENT_NETWORK_ALLOW: 'a.example:443' }, /^AGENT_NETWORK_ALLOW: expected AGENT_SANDBOX=on/],
  ])('are refused if they are wrong by themselves or together: %j', (variables, sentence) => {
    expect(problemsOf(variables)).toEqual([expect.stringMatching(sentence)]);
  });

  test.each([...VARIABLE_NAMES, 'TEMPORAL_API_KEY', 'OTEL_EXPORTER_OTLP_HEADERS', 'PGPASSWORD', 'GALLEY_ANY'])(
    'never pass %s on to an agent',
    (name) => {
      const sentence = `AGENT_ENV: ${name} is Galley's own, which no agent gets`;
      expect(problemsOf({ AGENT_ENV: `CODER_KEY,${name}` })).toEqual([sentence]);
    },
  );

  test.each([
    ...['a.example', 'a.example:', 'a.example:0', 'a.example:65536', 'https://a.example:443', '*.a.example:443'],
    ...['user@a.example:443', 'a.example:443/x', 'a.example:443,', 'a b:443', '[::1:443'],
  ])('are rejected if a host is not host:port: %s', (text) => {
    expect(problemsOf({ AGENT_NETWORK_ALLOW: text })).toEqual([
      expect.stringMatching(/^AGENT_NETWORK_ALLOW: expected host:port/),
    ]);
  });

  test.each([
    ...['127.0.0.1:80', '2130706433:80', '169.254.169.254:80', '10.0.0.1:5432', '[::1]:80', '[::ffff:10.0.0.1]:80'],
    ...['localhost:3000', 'galley.localhost:3000', '[fd00:ec2::254]:80', '224.0.0.1:80', '0.0.0.0:80'],
  ])('are rejected if a host is not public: %s', (text) => {
    expect(problemsOf({ AGENT_NETWORK_ALLOW: text })).toEqual([
      expect.stringMatching(/^AGENT_NETWORK_ALLOW: .* is not a public address/),
    ]);
  });
});

describe('the variables of the forge', () => {
  test('name none by default', () => {
    expect(readSettings({}).forge).toBeUndefined();
  });

  test('choose a forge and its credentials', () => {
    expect(readSettings({ FORGE_KIND: 'github', FORGE_TOKEN: 't' }).forge).toEqual({
      kind: 'github',
      url: undefined,
      auth: { token: 't' },
    });
    const gitea = { FORGE_KIND: 'gitea', FORGE_URL: 'https://git.example.com/', FORGE_TOKEN: 't' };
    expect(readSettings(gitea).forge).toMatchObject({ kind: 'gitea', url: 'https://git.example.com' });
    const app = { FORGE_KIND: 'github', FORGE_APP_ID: '12', FORGE_APP_PRIVATE_KEY: `${PEM}`.replaceAll('\n', '\\n') };
    expect(readSettings(app).forge?.auth).toEqual({ appId: '12', privateKey: PEM });
  });

  test.each([
    [{ FORGE_KIND: 'gitlab' }, /^FORGE_KIND: expected github or gitea$/],
    [{ FORGE_TOKEN: 't' }, /^FORGE_KIND: expected github or gitea beside/],
    [{ FORGE_KIND: 'github' }, /^FORGE_TOKEN: expected an access token, or FORGE_APP_ID/],
    [{ FORGE_KIND: 'gitea', FORGE_TOKEN: 't' }, /^FORGE_URL: expected the URL of your Gitea/],
    [{ FORGE_KIND: 'gitea', FORGE_URL: 'https://git.example.com' }, /^FORGE_TOKEN: expected an access token/],
    [{ FORGE_KIND: 'gitea', FORGE_URL: 'https://git.example.com', FORGE_APP_ID: '1' }, /^FORGE_APP_ID: .*no apps/],
    [{ FORGE_KIND: 'github', FORGE_APP_ID: '1' }, /^FORGE_APP_PRIVATE_KEY: expected beside FORGE_APP_ID/],
    [{ FORGE_KIND: 'github', FORGE_APP_PRIVATE_KEY: `${PEM}` }, /^FORGE_APP_ID: expected beside/],
    [{ FORGE_KIND: 'github', FORGE_APP_ID: 'x', FORGE_TOKEN: 't' }, /^FORGE_APP_ID: expected the number/],
    [
      { FORGE_KIND: 'github', FORGE_APP_ID: '1', FORGE_APP_PRIVATE_KEY: 'secret' },
      /^FORGE_APP_PRIVATE_KEY: expected the/,
    ],
    [
      { FORGE_KIND: 'github', FORGE_TOKEN: 't', FORGE_APP_ID: '1', FORGE_APP_PRIVATE_KEY: `${PEM}` },
      /^FORGE_TOKEN: expected either this or FORGE_APP_ID/,
    ],
  ])('are refused if they are wrong by themselves or together: %#', (variables, sentence) => {
    const problems = problemsOf(variables);
    expect(problems).toEqual([expect.stringMatching(sentence)]);
    expect(problems.join()).not.toContain('secret');
  });
});
