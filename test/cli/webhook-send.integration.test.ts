import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { openHome } from '../../cli/home.ts';
import { configuredWebhook } from '../../cli/webhook/configured-webhook.ts';
import { makeDelivery } from '../../cli/webhook/make-delivery.ts';
import { post } from '../../cli/webhook/post.ts';
import { readBody } from '../../cli/webhook/read-body.ts';
import { receiverAddress } from '../../cli/webhook/receiver-address.ts';
import { verdictOf } from '../../cli/webhook/verdict.ts';
import { OPERATOR_TOKEN, publishedSignals, type RunningApi, startApi } from '../api/running-api.ts';
import { freePort } from '../helpers/free-port.ts';
import { type Finished, galley } from '../helpers/galley.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { type ConfigFile, NEWEST, OLDEST, writeConfig } from './webhook-rig.ts';

const TITLE = 'A test from galley webhook send';
const webhooks = {
  contentful: { secret: [NEWEST, OLDEST] },
  github: { secret: NEWEST, branch: 'release' },
  token: { secret: NEWEST, filters: { event: ['entry.publish'], 'entry.locale': 'en' } },
  prismic: { secret: NEWEST },
};

type Answering = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void | Promise<void>;

let temporal: TestTemporal;
let api: RunningApi;
let file: ConfigFile;

beforeAll(async () => {
  temporal = await connectTemporal();
  file = await writeConfig({ handbook: { webhooks }, blog: { webhooks: {} } });
  api = await startApi({ client: temporal.client, config: file.config });
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
  await file.remove();
});

/** In the folder of galley.yaml, beside a receiver that HOST and PORT name. */
async function send(args: string[], variables: Record<string, string> = {}): Promise<Finished> {
  const PORT = new URL(api.url).port;
  return await galley(
    ['webhook', 'send', ...args],
    { PORT, GALLEY_HOME: join(file.folder, 'home'), ...variables },
    file.folder,
  );
}

async function bodyFile(name: string, text: string): Promise<string> {
  await writeFile(join(file.folder, name), text);
  return name;
}

/** Any server in the receiver's place, told each request with its body. */
async function startServer(answer: Answering): Promise<{ url: string; stop: () => void }> {
  const server = createServer(async (request, response) => answer(request, response, await buffer(request)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { url: `http://127.0.0.1:${address.port}`, stop: () => server.close() };
}

describe('what was accepted', () => {
  test('is told with its workflows and how to look at it, and never with a secret or signature', async () => {
    const { code, stdout, stderr } = await send(['handbook', 'contentful']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `Sent a signed contentful sample "${TITLE}" to ${api.url}/webhooks/handbook/contentful\n` +
        '202: Accepted by export:handbook.\n' +
        'See what becomes of it: galley sites status handbook\n',
    );
    expect((await publishedSignals(temporal.client, 'handbook')).at(-1)?.newest).toMatchObject({ title: TITLE });
  });

  test('is one JSON object with --json', async () => {
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

  test('may be a body from standard input', async () => {
    const text = '{"title": "Über uns"}\n';
    expect(await readBody('-', Readable.from([Buffer.from(text)]))).toEqual({ text, json: { title: 'Über uns' } });
    // The tests' commands have an empty one.
    const { code, stderr } = await send(['handbook', 'token', '--body', '-']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^galley: --body -: expected JSON: /) });
  });

  test('goes to the address of --url, whole or only its host, by the path that was signed', async () => {
    const whole = await send([
      'handbook',
      'contentful',
      '--url',
      `${api.url}/webhooks/handbook/contentful?x=1`,
      '--json',
    ]);
    const host = await send(['handbook', 'contentful', '--url', api.url, '--json'], { PORT: '1' });
    for (const { code, stdout } of [whole, host]) {
      expect({ code, ...JSON.parse(stdout) }).toMatchObject({
        code: 0,
        url: `${api.url}/webhooks/handbook/contentful`,
      });
    }
  });

  test('goes to the running up, wherever HOST and PORT point', async () => {
    const home = openHome(join(file.folder, 'home-of-up'));
    const unlock = await home.lock();
    const address = { platform: null, api: api.url, deployments: [], temporal: temporal.address, temporalUi: null };
    await home.announce(address);
    const { code, stdout } = await send(['handbook', 'github'], { PORT: '1', GALLEY_HOME: home.folder });
    await home.announce(null);
    await unlock();
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`${api.url}/webhooks/`) });
  });
});

describe('what was filtered', () => {
  test('is exit code 0, and why is told to whoever has the operator token', async () => {
    const body = await bodyFile('push.json', JSON.stringify({ ref: 'refs/heads/main', after: 'a'.repeat(40) }));
    const told = await send(['handbook', 'github', '--body', body], { OPERATOR_TOKEN });
    expect(told).toMatchObject({ code: 0, stderr: '' });
    expect(told.stdout).toContain('202: The signature is right, but the delivery starts nothing: it was filtered.\n');
    expect(told.stdout).toContain('Why: branch is not release\n');
    const untold = await send(['handbook', 'github', '--body', body]);
    expect(untold).toMatchObject({ code: 0, stdout: expect.stringContaining('galley sites status handbook --json') });
  });
});

describe('the command line', () => {
  test.each([
    [
      ['handbok', 'contentful'],
      /^galley: galley\.yaml has no site handbok; .* handbook, blog\. Did you mean handbook\?\n$/,
    ],
    [['handbook'], /missing required argument 'source'/],
    [
      ['handbook', 'token', '--body', 'missing.json'],
      /^galley: --body missing\.json: expected a readable file \(ENOENT\)\n$/,
    ],
    [
      ['handbook', 'token', '--url', 'localhost:3000'],
      /^galley: --url: expected an http\(s\) address without a password\n$/,
    ],
  ])('is wrong with exit code 2 and one sentence: %j', async (args, message) => {
    const { code, stdout, stderr } = await send(args);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test.each([
    ['handbook', 'contentfull', /^site handbook has no webhook of contentfull; .*github.* Did you mean contentful\?$/],
    ['blog', 'ghost', 'site blog has no webhook of ghost; galley.yaml has none'],
    ['handbook', '__proto__', /^site handbook has no webhook of __proto__; /],
    ['toString', 'token', /^galley\.yaml has no site toString; /],
  ])('names what galley.yaml has instead of %s %s', async (site, source, message) => {
    const found = configuredWebhook({ configPath: file.path, variables: {} }, site, source);
    await expect(found).rejects.toMatchObject({ name: 'UsageError', message: expect.stringMatching(message) });
  });

  test.each([
    ['{"title": ', 'expected JSON: '],
    ['\ufeff{}', 'expected JSON: '],
    [Buffer.from([0x22, 0xff, 0x22]), 'expected JSON in UTF-8'],
  ])('takes no body that the receiver could not read: %j', async (text, message) => {
    const read = readBody('-', Readable.from([Buffer.from(text)]));
    await expect(read).rejects.toMatchObject({ name: 'UsageError', message: expect.stringContaining(message) });
    await expect(readBody(file.folder, Readable.from([]))).rejects.toThrow('expected a readable file (EISDIR)');
  });

  test('takes no body without a place for the secret of Prismic', async () => {
    const webhook = await configuredWebhook({ configPath: file.path, variables: {} }, 'handbook', 'prismic');
    const make = () => makeDelivery(webhook, { path: '/', at: new Date(), given: { text: '[]', json: [] } });
    expect(make).toThrow('--body: expected a JSON object, because prismic carries its secret in it');
  });

  test('takes no address with a password', async () => {
    const settings = { host: '127.0.0.1', port: 3000, home: file.folder };
    const given = { site: 'handbook', source: 'token', url: 'https://me:hush@example.com' };
    await expect(receiverAddress(settings, given)).rejects.toThrow('expected an http(s) address without a password');
  });

  test('needs the variables of the one source only, and names one that is missing', async () => {
    const other = await writeConfig({
      handbook: {
        webhooks: {
          token: { ...webhooks.token, secret: `\${TOKEN_SECRET}` },
          github: { secret: `\${GITHUB_SECRET}` },
        },
      },
    });
    const run = (variables: Record<string, string>) =>
      galley(
        ['webhook', 'send', 'handbook', 'token', '--url', api.url],
        { GALLEY_HOME: other.folder, ...variables },
        other.folder,
      );
    const [without, set] = [await run({}), await run({ TOKEN_SECRET: NEWEST })];
    await other.remove();
    expect(without).toMatchObject({
      code: 2,
      stderr:
        'galley: sites.handbook.webhooks.token.secret: expected the environment variable TOKEN_SECRET to be set (line 6)\n',
    });
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('202: Accepted') });
  });

  test('says where galley.yaml was expected, and what the command starts', async () => {
    const nowhere = await galley(['webhook', 'send', 'a', 'b'], { GALLEY_CONFIG: join(file.folder, 'none.yaml') });
    expect(nowhere).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/GALLEY_CONFIG: expected a readable file/),
    });
    const help = await galley(['webhook', 'send', '--help']);
    expect(help.code).toBe(0);
    for (const said of ['starts a real export', 'prompts its agent rules', 'Examples:', 'wordpress']) {
      expect(help.stdout).toContain(said);
    }
  });
});

describe('what was refused is exit code 1, with', () => {
  test('another secret, and what the receiver noted of it for operators', async () => {
    const other = await writeConfig({ handbook: { webhooks: { token: { secret: 'a-new-one' } } } });
    const variables = { GALLEY_CONFIG: other.path };
    const plain = await send(['handbook', 'token'], variables);
    const json = await send(['handbook', 'token', '--json'], { ...variables, OPERATOR_TOKEN });
    await other.remove();
    expect(plain.code).toBe(1);
    expect(plain.stderr).toMatch(
      /^galley: 401: The receiver could not verify it\. Most likely it has another secret: /,
    );
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      outcome: 'refused',
      status: 401,
      deliveryId: null,
      reason: 'the signature was another than expected',
    });
    expect(plain.stdout + plain.stderr + json.stdout + json.stderr).not.toContain('a-new-one');
  });

  test('a source that the receiver has not read yet', async () => {
    const other = await writeConfig({ handbook: { webhooks: { ghost: { secret: NEWEST } } } });
    const { code, stderr } = await send(['handbook', 'ghost'], { GALLEY_CONFIG: other.path });
    await other.remove();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("404: The receiver's galley.yaml has no sites.handbook.webhooks.ghost"),
    });
  });

  test('a body that is too large', async () => {
    const body = await bodyFile('large.json', JSON.stringify({ text: 'x'.repeat(1024 * 1024) }));
    const { code, stderr } = await send(['handbook', 'token', '--body', body]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('413: The body is too large') });
  });

  test('a content type that something on the way changed', async () => {
    const proxy = await startServer(async (request, response, body) => {
      const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'text/plain' };
      const answer = await fetch(api.url + request.url, { method: 'POST', headers, body });
      response.writeHead(answer.status).end(await answer.text());
    });
    const { code, stderr } = await send(['handbook', 'token', '--url', proxy.url]);
    proxy.stop();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('415: The receiver takes JSON only') });
  });

  test('a receiver whose Temporal is away', async () => {
    const connection = Connection.lazy({ address: `127.0.0.1:${await freePort()}`, ...RECEIVER_CONNECTION });
    const lonely = await startApi({ client: new Client({ connection }), config: file.config });
    const { code, stderr } = await send(['handbook', 'token', '--url', lonely.url]);
    await lonely.stop();
    await connection.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^galley: 503: The receiver can't keep it now \(.+\), and may not have taken it\. Try again in \d+ s: /,
    );
  });

  test('nobody at the address', async () => {
    const PORT = String(await freePort());
    const plain = await send(['handbook', 'token'], { PORT });
    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr).toContain(
      `Nothing listens at http://127.0.0.1:${PORT}. Start it with npm start (galley up) or galley api`,
    );
    const json = await send(['handbook', 'token', '--json'], { PORT });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ outcome: 'unreachable', status: null, accepted: [] });
  });

  test.each([
    [200, {}, 'That is no answer of Galley'],
    [502, {}, 'That is no answer of Galley'],
    [
      308,
      { location: 'https://hooks.example.com/x?key=1' },
      'leads on to https://hooks.example.com/x. Content systems',
    ],
  ])('another program there, which answers %d', async (status, headers, meaning) => {
    const server = await startServer((_request, response) => {
      response.writeHead(status, headers).end('<html>hello</html>');
    });
    const url = new URL('/webhooks/handbook/token', server.url);
    const answer = await post(url, { body: '{}', headers: {}, what: 'nothing' });
    server.stop();
    const verdict = verdictOf(answer, { url, site: 'handbook', source: 'token' });
    expect(verdict).toMatchObject({ outcome: 'refused', status, meaning: expect.stringContaining(meaning) });
  });
});

test('An address of one’s own choosing is never told the operator token', async () => {
  const asked: (string | undefined)[] = [];
  const server = await startServer(({ url, headers }, response) => {
    asked.push(`${url} ${headers['x-hub-signature-256'] !== undefined} ${headers.authorization}`);
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error": "no"}');
  });
  const { code } = await send(['handbook', 'github', '--url', server.url], { OPERATOR_TOKEN });
  server.stop();
  expect({ code, asked }).toEqual({ code: 1, asked: ['/webhooks/handbook/github true undefined'] });
});

test('A body of one’s own is signed by its bytes', async () => {
  const text = '{"ref": "refs/heads/release",\n  "after": "ü <&>"}\n\n';
  const received: { body: string; signature: unknown }[] = [];
  const server = await startServer(({ headers }, response, body) => {
    received.push({ body: body.toString(), signature: headers['x-hub-signature-256'] });
    response.writeHead(202).end(JSON.stringify({ deliveryId: 'd', accepted: ['export:handbook'] }));
  });
  const body = await bodyFile('own.json', text);
  const { code } = await send(['handbook', 'github', '--body', body, '--url', server.url]);
  server.stop();
  const signature = `sha256=${createHmac('sha256', NEWEST).update(text).digest('hex')}`;
  expect({ code, received }).toEqual({ code: 0, received: [{ body: text, signature }] });
});
