import type { RequestListener } from 'node:http';
import { createGate } from '../../helpers/system/gate.ts';
import { buildBundle, siteOf } from '../bundles.ts';
import { type Fixture, openFixture } from '../fixture.ts';

/** Short pauses, so that the deployment retries a repaired link soon. */
const PAUSES = { soonBaseMs: 20, soonMaxMs: 50, slowlyMs: 50, invalidMs: 50 };

let fixture: Fixture;
let bundles: { old: Buffer; next: Buffer };
beforeAll(async () => {
  bundles = { old: await buildBundle(siteOf('1')), next: await buildBundle(siteOf('2')) };
});
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

type Fault = [name: string, respond: RequestListener, message: RegExp, status: number | null];

const rejectWith =
  (status: number, body: string): RequestListener =>
  (_req, res) =>
    res.writeHead(status).end(body);

const faults: Fault[] = [
  ['403', rejectWith(403, '<Error><Code>AccessDenied</Code></Error>'), /answered 403: the link has expired/, 403],
  ['a wrong signature', rejectWith(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>'), /answered 403/, 403],
  ['404', rejectWith(404, ''), /answered 404/, 404],
  ['500', rejectWith(500, ''), /answered 500/, 500],
  [
    'a response that is cut off',
    (_req, res) => {
      res.writeHead(200, { 'content-length': bundles.next.length });
      res.write(bundles.next.subarray(0, 100), () => res.destroy());
    },
    /the download from .* broke off/,
    null,
  ],
  ['half an archive', (_req, res) => res.end(bundles.next.subarray(0, bundles.next.length / 2)), /was refused/, null],
  ['a page instead of an archive', (_req, res) => res.end('<html>Sign in</html>'), /was refused/, null],
];

it.each(faults)(
  'a link that responds with %s: the deployment serves the last version, reports the error, and recovers',
  async (_name, respond, message, status) => {
    let handler: RequestListener = (_req, res) => res.end(bundles.old);
    const store = await fixture.serve((req, res) => handler(req, res));
    await fixture.writeValues({ enabled: true, bundleUrl: `${store}/old` });
    const running = await fixture.start({ retryPauses: PAUSES });
    await running.until('serving', ({ version }) => version === '1');
    handler = respond;
    await fixture.writeValues({ enabled: true, bundleUrl: `${store}/next` });
    const failed = await running.until('reported the error', ({ lastError }) => lastError !== null);
    expect(failed).toMatchObject({ state: 'serving', version: '1', stale: true });
    expect(failed.lastError?.message).toMatch(message);
    expect(failed.lastError?.status).toBe(status);
    expect(await running.text('/')).toBe('<title>home 1</title>');
    handler = (_req, res) => res.end(bundles.next);
    const recovered = await running.until('recovered', ({ version }) => version === '2');
    expect(recovered).toMatchObject({ stale: false, lastError: null });
  },
);

it('a link with another version than the pinned one is retried until it has the pinned version', async () => {
  let body = bundles.old;
  const store = await fixture.serve((_req, res) => res.end(body));
  await fixture.writeValues({ enabled: true, bundleUrl: `${store}/a` });
  const running = await fixture.start({ retryPauses: PAUSES });
  await running.until('serving', ({ version }) => version === '1');
  await fixture.writeValues({ enabled: true, bundleUrl: `${store}/b`, version: '2' });
  const { lastError, version } = await running.until('reported the error', (status) => status.lastError !== null);
  expect([version, lastError?.message]).toEqual([
    '1',
    expect.stringContaining('pins "2", but the bundle at the link is "1"'),
  ]);
  body = bundles.next;
  await running.until('recovered', (status) => status.version === '2' && status.lastError === null);
});

it('during a slow download the deployment serves the last version and reports what it waits for', async () => {
  const [answer, gate] = [createGate(), createGate()];
  const store = await fixture.serve(async (req, res) => {
    if (req.url === '/old') {
      res.end(bundles.old);
      return;
    }
    await answer.pass();
    res.writeHead(200, { 'content-length': bundles.next.length });
    res.write(bundles.next.subarray(0, 100));
    await gate.pass();
    res.end(bundles.next.subarray(100));
  });
  await fixture.writeValues({ enabled: true, bundleUrl: `${store}/old` });
  const running = await fixture.start();
  await running.until('serving', ({ version }) => version === '1');
  await fixture.writeValues({ enabled: true, bundleUrl: `${store}/next` });
  const { waiting: silent } = await running.until('asked', ({ waiting }) => waiting !== null);
  expect(silent?.for).toBe(`a response of ${store}`);
  answer.open();
  const loading = await running.until('downloading', ({ download }) => download?.receivedBytes === 100);
  expect(loading).toMatchObject({ version: '1', stale: true, download: { totalBytes: bundles.next.length } });
  expect(loading.waiting?.for).toBe(`more of the bundle from ${store}`);
  expect(Date.parse(loading.waiting?.since ?? '')).toBeGreaterThanOrEqual(Date.parse(silent?.since ?? ''));
  expect(await running.text('/')).toBe('<title>home 1</title>');
  gate.open();
  const done = await running.until('served the next', ({ version, download }) => version === '2' && download === null);
  expect(done.waiting).toBeNull();
});
