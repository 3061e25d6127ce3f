import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { FilteredDeliveries, type KeptDelivery, type ListedDelivery } from '../../api/filtered-deliveries.ts';
import { configWith, OPERATOR_TOKEN, type RecordingApi, startRecordingApi } from './running-api.ts';
import { signGithub } from './sources/vendors/github.ts';
import { signStandard } from './sources/vendors/standard.ts';

const SECRET = `whsec_${Buffer.from('s'.repeat(32)).toString('base64')}`;
const logger = pino({ level: 'silent' });
const MIB = 1024 * 1024;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-filtered-'));
});

afterEach(() => rm(folder, { recursive: true }));

async function openStore(maxBytes = 50_000_000): Promise<{ store: FilteredDeliveries; before: ListedDelivery[] }> {
  const store = new FilteredDeliveries({ folder, maxBytes, logger });
  await store.restore();
  return { store, before: store.list() };
}

const deliveryOf = (id: string, at = '2026-11-21T08:00:00.000Z'): KeptDelivery => ({
  site: 'docs',
  about: { id, source: 'token', at, topic: 'entry.save', why: 'only.topic' },
  request: { method: 'POST', path: '/webhooks/docs/token', headers: { authorization: 'Bearer hush' } },
});

describe('the folder of filtered deliveries', () => {
  test('keeps a delivery and its bytes through a restart, readable only by its user', async () => {
    const { store } = await openStore();
    store.keep(deliveryOf('later', '2026-11-21T09:00:00.000Z'), Buffer.from('{"b":2}'));
    store.keep(deliveryOf('a/../b'), Buffer.from('{"a":1}'));
    expect((await store.find('docs', 'a/../b'))?.delivery).toEqual(deliveryOf('a/../b'));
    const { store: again, before } = await openStore();
    expect(before.map(({ about }) => about.id)).toEqual(['a/../b', 'later']);
    const found = await again.find('docs', 'a/../b');
    expect(String(Buffer.concat((await found?.body().toArray()) ?? []))).toBe('{"a":1}');
    expect(await again.find('other', 'a/../b')).toBeUndefined();
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  test('holds no more than its limit: the oldest are removed first, also after a restart', async () => {
    const { store } = await openStore(10_000);
    for (let count = 0; count < 20; count += 1) {
      store.keep(deliveryOf(`d${count}`, new Date(count * 1000).toISOString()), Buffer.alloc(1_500));
    }
    const ids = async (of: FilteredDeliveries) =>
      (
        await Promise.all(Array.from({ length: 20 }, async (_, count) => (await of.find('docs', `d${count}`)) && count))
      ).filter((count) => count !== undefined);
    expect(await ids(store)).toEqual([15, 16, 17, 18, 19]);
    const { store: smaller } = await openStore(4_000);
    expect(await ids(smaller)).toEqual([18, 19]);
    expect(await readdir(folder)).toHaveLength(4);
  });

  test('loses no space to what a killed process left, and forgets what is broken', async () => {
    const { store } = await openStore();
    store.keep(deliveryOf('a'), Buffer.from('{}'));
    await store.find('docs', 'a');
    const [json = ''] = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    await writeFile(join(folder, json), '{');
    await writeFile(join(folder, 'half.body'), 'x');
    await writeFile(join(folder, '.arriving-1'), 'x');
    expect((await openStore()).before).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a filtered delivery', () => {
  const running: (() => Promise<void>)[] = [];
  const stopAll = async () => {
    for (const stop of running.splice(0)) await stop();
  };

  afterEach(stopAll);

  async function start(webhooks: object, now = () => new Date()): Promise<RecordingApi> {
    await stopAll();
    const { store: filtered } = await openStore();
    const config = configWith({ docs: { webhooks } });
    const api = await startRecordingApi(config, {}, { filtered, now });
    running.push(api.stop, () => filtered.settled());
    return api;
  }

  async function runAgain(api: RecordingApi, id: string): Promise<[status: number, body: unknown]> {
    const url = `${api.url}/sites/docs/deliveries/${encodeURIComponent(id)}/run-again`;
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const response = await fetch(url, { method: 'POST', headers });
    return [response.status, await response.json()];
  }

  const wrong = { standard: { secret: SECRET, filters: { type: 'page.publish' } } };
  const right = { standard: { secret: SECRET, filters: { type: 'page.published' } } };
  const body = JSON.stringify({ type: 'page.published', data: { id: 'p1', title: 'Start' } });

  async function deliver(api: RecordingApi, at = new Date()): Promise<string> {
    const headers = signStandard({ secret: SECRET, body, path: '/', at });
    const response = await fetch(`${api.url}/webhooks/docs/standard`, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toMatchObject([202, { accepted: [] }]);
    return headers['webhook-id'] ?? '';
  }

  test('runs again once its filter is fixed, although its signed time has passed, and only once', async () => {
    const id = await deliver(await start(wrong));
    const tomorrow = () => new Date(Date.now() + 24 * 3_600_000);
    const fixed = await start(right, tomorrow);
    expect(await runAgain(fixed, id)).toMatchObject([200, { site: 'docs', deliveries: [{ id, outcome: 'verified' }] }]);
    expect(fixed.published('export:docs')).toMatchObject([
      { deliveries: [{ id }], newest: { id: 'p1', title: 'Start' } },
    ]);
    const { store } = await openStore();
    expect(await store.find('docs', id)).toBeUndefined();
  });

  test('stays as it is while it is still filtered', async () => {
    const api = await start(wrong);
    const id = await deliver(api);
    expect(await runAgain(api, id)).toEqual([
      409,
      { error: 'the delivery is still filtered (filters.type): `galley sites export` exports without it' },
    ]);
    expect(api.sent).toEqual([]);
  });

  test('is verified again: with another secret, or if its file was changed, it is rejected', async () => {
    const id = await deliver(await start(wrong));
    const rejected = { error: "the delivery can't be verified any more (bad-signature): was the secret changed?" };
    const other = `whsec_${Buffer.from('other').toString('base64')}`;
    const changed = await start({ standard: { ...right.standard, secret: other } });
    expect(await runAgain(changed, id)).toEqual([409, rejected]);
    const [file = ''] = (await readdir(folder)).filter((name) => name.endsWith('.body'));
    await writeFile(join(folder, file), (await readFile(join(folder, file), 'utf8')).replace('Start', 'Stop!'));
    expect(await runAgain(await start(right), id)).toEqual([409, rejected]);
  });

  test('may be a large push', async () => {
    const push = JSON.stringify({ ref: 'refs/heads/live', after: 'abc', padding: 'x'.repeat(3 * MIB) });
    const headers = await signGithub({ secret: SECRET, body: push, path: '/', at: new Date() });
    const api = await start({ github: { secret: SECRET } });
    const response = await fetch(`${api.url}/webhooks/docs/github`, { method: 'POST', headers, body: push });
    expect(await response.json()).toMatchObject({ accepted: [] });
    const id = headers['x-github-delivery'] ?? '';
    const fixed = await start({ github: { secret: SECRET, branch: 'live' } });
    expect((await runAgain(fixed, id))[0]).toBe(200);
    expect(fixed.published('export:docs')).toMatchObject([{ newest: { id: 'abc' } }]);
  });

  test('that is rejected, or accepted, is not kept', async () => {
    const api = await start({ ...right, github: { secret: SECRET } });
    const push = JSON.stringify({ ref: 'refs/heads/main', padding: 'x'.repeat(3 * MIB) });
    const headers = await signGithub({ secret: SECRET, body: push, path: '/', at: new Date() });
    for (const altered of [push, push.replace('main', 'mine')]) {
      await (await fetch(`${api.url}/webhooks/docs/github`, { method: 'POST', headers, body: altered })).text();
    }
    await stopAll();
    expect((await openStore()).before).toEqual([]);
  });
});
