import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Client, Connection } from '@temporalio/client';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { configuredWebhook } from '../../cli/webhook/configured-webhook.ts';
import { makeDelivery, readBody } from '../../cli/webhook/make-delivery.ts';
import { receiverUrl } from '../../cli/webhook/send.ts';
import { post, verdictOf } from '../../cli/webhook/verdict.ts';
import { openHome } from '../../programs/process/home.ts';
import { OPERATOR_TOKEN, startApi, startRecordingApi } from '../api/running-api.ts';
import { freePort } from '../helpers/free-port.ts';
import { type Finished, galleyHere } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { NEWEST, OLDEST, writeConfig } from './webhook-fixture.ts';

const TITLE = 'A test from galley webhook send';
const webhooks = {
  contentful: { secret: [NEWEST, OLDEST] },
  github: { secret: NEWEST, branch: 'release' },
  token: { secret: NEWEST, filters: { event: ['entry.publish'], 'entry.locale': 'en' } },
  prismic: { secret: NEWEST },
};

const file = await writeConfig({ handbook: { webhooks }, blog: { webhooks: {} } });
const api = await startRecordingApi(file.config);

afterAll(async () => {
  await api.stop();
  await file.remove();
});

/** Runs the command in the folder of galley.yaml. HOST and PORT name the receiver. */
async function send(args: string[], variables: Record<string, string> = {}): Promise<Finished> {
  const PORT = new URL(api.url).port;
  const context = { PORT, GALLEY_HOME: join(file.folder, 'home'), ...variables };
  return await galleyHere(['webhook', 'send', ...args], context, file.folder);
}

describe('galley webhook send', () => {
  test('reports the workflows that accepted the delivery and the next command', async () => {
    const { code, stdout, stderr } = await send(['handbook', 'contentful']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `Sent a signed contentful sample "${TITLE}" to\n${api.url}/webhooks/handbook/contentful\n` +
        '202: Accepted by export:handbook.\n' +
        'See what becomes of it: galley sites status handbook\n',
    );
    expect(api.published().at(-1)?.newest).toMatchObject({ title: TITLE });
  });

  test('prints one JSON object with --json, without the secret', async () => {
    const { code, stdout } = await send(['handbook', 'token', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      site: 'handbook',
      source: 'token',
      url: `${api.url}/webhooks/handbook/token`,
      outcome: 'accepted',
      status: 202,
      deliveryId: expect.stringMatching(/^sha256:/),
      accepted: ['export:handbook'],
      meaning: 'Accepted by export:handbook.',
      reason: null,
    });
    expect(stdout).not.toContain(NEWEST);
  });

  test('exits with 0 if the delivery was filtered, and gives the reason if it has the operator token', async () => {
    await writeFile(join(file.folder, 'push.json'), '{"ref": "refs/heads/main"}');
    const args = ['handbook', 'github', '--body', 'push.json'];
    const operator = await send(args, { OPERATOR_TOKEN });
    expect(operator).toMatchObject({ code: 0, stderr: '' });
    expect(operator.stdout).toContain(
      '202: The signature is right, but the delivery starts nothing: it was filtered.\n',
    );
    expect(operator.stdout).toContain('Why: branch is not release\n');
    const anybody = await send(args);
    expect(anybody).toMatchObject({ code: 0, stdout: expect.stringContaining('galley sites status handbook --json') });
  });

  test('exits with 1 if the secret differs, with the reason that operators may see', async () => {
    const other = await writeConfig({ handbook: { webhooks: { token: { secret: 'a-new-one' } } } });
    const refused = await send(['handbook', 'token'], { GALLEY_CONFIG: other.path, OPERATOR_TOKEN });
    await other.remove();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^galley: 401: The receiver could not verify it\. .* The receiver noted: the signature did not match\.\n$/,
    );
    expect(refused.stdout + refused.stderr).not.toContain('a-new-one');
  });

  test('exits with 1 if nothing listens, and says how to start the receiver', async () => {
    const PORT = String(await freePort());
    const { code, stdout, stderr } = await send(['handbook', 'token', '--json'], { PORT });
    const meaning = expect.stringContaining(
      `Nothing listens at http://127.0.0.1:${PORT}. Start the receiver with galley up`,
    );
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'unreachable', status: null, accepted: [], meaning });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Nothing listens at') });
  });

  test('does not send the operator token to a given --url', async () => {
    const requests: (string | undefined)[] = [];
    const server = await startHttpSite(({ url, headers }, response) => {
      requests.push(`${url} ${headers['x-hub-signature-256'] !== undefined} ${headers.authorization}`);
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error": "no"}');
    });
    const { code } = await send(['handbook', 'github', '--url', server.origin], { OPERATOR_TOKEN });
    await server.close();
    expect({ code, requests }).toEqual({ code: 1, requests: ['/webhooks/handbook/github true undefined'] });
  });

  test('exits with 2 if its arguments are wrong', async () => {
    const { code, stdout, stderr } = await send(['handbok', 'contentful']);
    expect(stderr).toMatch(/^galley: galley\.yaml has no site handbok; .* handbook, blog\. Did you mean handbook\?\n$/);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('the configured webhook', () => {
  test.each([
    ['handbook', 'contentfull', /^site handbook has no webhook of contentfull; .*github.* Did you mean contentful\?$/],
    ['blog', 'ghost', /^site blog has no webhook of ghost; .*galley\.yaml has none$/],
    ['handbook', '__proto__', /^site handbook has no webhook of __proto__; /],
    ['toString', 'token', /^galley\.yaml has no site toString; /],
  ])('is a usage error if galley.yaml lacks it: %s %s', async (site, source, message) => {
    const found = configuredWebhook({ configPath: file.path, variables: {} }, site, source);
    await expect(found).rejects.toMatchObject({ name: 'UsageError', message: expect.stringMatching(message) });
  });

  test('needs only the variables of its own source', async () => {
    const token = { ...webhooks.token, secret: `\${TOKEN_SECRET}` };
    const other = await writeConfig({ handbook: { webhooks: { token, github: { secret: `\${GITHUB_SECRET}` } } } });
    const find = (variables: Record<string, string>) =>
      configuredWebhook({ configPath: other.path, variables }, 'handbook', 'token');
    await expect(find({})).rejects.toThrow(
      'sites.handbook.webhooks.token.secret: expected the environment variable TOKEN_SECRET to be set (line 6)',
    );
    expect(await find({ TOKEN_SECRET: NEWEST })).toMatchObject({ secret: NEWEST });
    await other.remove();
  });

  test.each([
    [undefined, 'GALLEY_CONFIG: expected the path of galley.yaml'],
    ['/none/galley.yaml', 'GALLEY_CONFIG: expected a readable file'],
  ])('is a configuration error if galley.yaml is %s', async (configPath, message) => {
    await expect(configuredWebhook({ configPath, variables: {} }, 'a', 'b')).rejects.toThrow(message);
  });
});

describe('the body', () => {
  test('is read from standard input as it is', async () => {
    const text = '{"title": "Über uns"}\n';
    expect(await readBody('-', Readable.from([Buffer.from(text)]))).toEqual({ text, json: { title: 'Über uns' } });
  });

  test.each([
    ['', 'expected JSON: '],
    ['{"title": ', 'expected JSON: '],
    ['\ufeff{}', 'expected JSON: '],
    [Buffer.from([0x22, 0xff, 0x22]), 'expected JSON in UTF-8'],
  ])('is a usage error if the receiver could not read it: %j', async (text, message) => {
    const read = readBody('-', Readable.from([Buffer.from(text)]));
    await expect(read).rejects.toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
  });

  test('is a usage error if it is not a readable file', async () => {
    await expect(readBody(file.folder, Readable.from([]))).rejects.toThrow('expected a readable file (EISDIR)');
    await expect(readBody('/none.json', Readable.from([]))).rejects.toThrow('expected a readable file (ENOENT)');
  });

  test("is a usage error if it cannot contain Prismic's secret", async () => {
    const webhook = await configuredWebhook({ configPath: file.path, variables: {} }, 'handbook', 'prismic');
    const make = () => makeDelivery(webhook, { path: '/', at: new Date(), given: { text: '[]', json: [] } });
    expect(make).toThrow('--body: expected a JSON object, because prismic carries its secret in it');
  });
});

test('a secret that no header can carry is a usage error', async () => {
  const webhook = await configuredWebhook({ configPath: file.path, variables: {} }, 'handbook', 'token');
  const make = () => makeDelivery({ ...webhook, secret: 'two\nlines' }, { path: '/', at: new Date() });
  expect(make).toThrow('the secret in galley.yaml: expected letters, digits and signs that a header can carry');
});

describe('the URL of the receiver', () => {
  const urlOf = async (url?: string, home = file.folder) => {
    const settings = { host: '127.0.0.1', port: 3000, home };
    return String(await receiverUrl(settings, { site: 'handbook', source: 'token', url }));
  };

  test.each([
    [undefined, 'http://127.0.0.1:3000/webhooks/handbook/token'],
    ['https://hooks.example.com', 'https://hooks.example.com/webhooks/handbook/token'],
    ['https://hooks.example.com/other/path', 'https://hooks.example.com/other/path'],
  ])('for --url %s is %s', async (url, complete) => {
    expect(await urlOf(url)).toBe(complete);
  });

  test('is that of a running `up` instead of HOST and PORT', async () => {
    const home = openHome(join(file.folder, 'home-of-up'));
    const unlock = await home.lock();
    const rest = { platform: null, deployments: [], temporal: '127.0.0.1:7233', temporalUi: null, control: api.url };
    await home.announce({ ...rest, api: api.url });
    expect(await urlOf(undefined, home.folder)).toBe(`${api.url}/webhooks/handbook/token`);
    await home.announce(null);
    await unlock();
  });

  test.each(['https://me:hush@example.com', 'localhost:3000'])('is a usage error for --url %s', async (url) => {
    await expect(urlOf(url)).rejects.toThrow('--url: expected an http(s) URL without a password');
  });
});

describe('the verdict on', () => {
  type Delivery = { body?: string; headers?: Record<string, string> };

  async function verdictFrom(origin: string, { body = '{}', headers = {} }: Delivery = {}, source = 'token') {
    const url = new URL(`/webhooks/handbook/${source}`, origin);
    const delivery = { body, headers: { authorization: `Bearer ${NEWEST}`, ...headers }, what: 'a test' };
    return verdictOf(await post(url, delivery), { url, site: 'handbook', source });
  }

  test.each([
    ['a source that the receiver has not read yet', 'ghost', {}, 404, 'has no sites.handbook.webhooks.ghost'],
    ['a body that is too large', 'token', { body: 'x'.repeat(1024 * 1024 + 1) }, 413, 'The body is too large'],
    ['a changed content type', 'token', { headers: { 'content-type': 'text/plain' } }, 415, 'accepts only JSON'],
  ])('%s says so', async (_what, source, delivery, status, meaning) => {
    const json = { 'content-type': 'application/json' };
    const verdict = await verdictFrom(api.url, { headers: json, ...delivery }, source);
    expect(verdict).toMatchObject({ outcome: 'refused', status, meaning: expect.stringContaining(meaning) });
  });

  test('a receiver without Temporal reports when to retry', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:1', ...RECEIVER_CONNECTION });
    const client = new Client({ connection });
    const lonely = await startApi({ client, config: file.config, deliveryDeadlineMs: 100 });
    const headers = { 'content-type': 'application/json' };
    const verdict = await verdictFrom(lonely.url, {
      headers,
      body: '{"event":"entry.publish","entry":{"locale":"en"}}',
    });
    await lonely.stop();
    await connection.close();
    expect(verdict).toMatchObject({
      ...{ outcome: 'refused', status: 503 },
      meaning: expect.stringMatching(
        /^The receiver may not have stored it \(.+\)\. Try again in 5 s, as a content system does by itself; galley doctor says what is wrong\.$/,
      ),
    });
  });

  test.each([
    [200, {}, 'The response is not from Galley'],
    [502, {}, 'The response is not from Galley'],
    [308, { location: 'https://hooks.example.com/x?key=1' }, 'redirects to https://hooks.example.com/x. Content'],
  ])('another program, which responds %d, reports that', async (status, headers, meaning) => {
    const server = await startHttpSite((_request, response) => void response.writeHead(status, headers).end('<html>'));
    const verdict = await verdictFrom(server.origin);
    await server.close();
    expect(verdict).toMatchObject({ outcome: 'refused', status, meaning: expect.stringContaining(meaning) });
  });
});
