import type { ServerResponse } from 'node:http';
import {
  type AskDeploymentInput,
  createAskDeployment,
  type DeploymentAnswer,
} from '../../../activities/deployments/ask-deployment.ts';
import { bundlePathOf } from '../../../bundle/fetch/link.ts';
import { galleyConfig } from '../../../programs/config/galley-yaml.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';

const MINUTE_MS = 60_000;
const WITHIN_MS = 5 * MINUTE_MS;

/** What a replica answers; `cut`: nothing. */
type Reply = object | { status: number; body: string } | 'cut';

const served = { state: 'serving', version: 'v2', jobId: 'se_2' };
const older = { state: 'serving', version: 'v1', jobId: 'se_1', download: null, lastError: null };
const failing = { ...older, lastError: { message: 'the link was refused', status: 403, at: '2026-11-21T08:00:00Z' } };
const empty = { ...older, state: 'empty', version: null, jobId: null };

const replicas: { site: HttpSite; reply: Reply }[] = [];

beforeAll(async () => {
  for (let index = 0; index < 2; index++) {
    const site = await startHttpSite((_, response) => send(response, replicas[index]?.reply ?? 'cut'));
    replicas.push({ site, reply: 'cut' });
  }
});
afterAll(async () => {
  await Promise.all(replicas.map(({ site }) => site.close()));
});

function send(response: ServerResponse, reply: Reply): void {
  if (reply === 'cut') response.destroy();
  else if ('body' in reply) response.writeHead(reply.status).end(reply.body);
  else response.end(JSON.stringify(reply));
}

/** Of a deployment with so many replicas. */
function activityFor(count: number) {
  const statusUrl = replicas.slice(0, count).map(({ site }) => `${site.origin}/-/status`);
  const config = galleyConfig.parse({
    adminApi: { url: 'https://api.example.com', key: 'galley_key' },
    sites: {
      docs: {
        domain: 'docs.example.com',
        export: { deployments: [{ valuesFile: 'docs.yaml', name: 'eu', statusUrl }] },
      },
    },
  });
  return createAskDeployment((site) => config.sites[site]);
}

const INPUT: AskDeploymentInput = {
  ...{ site: 'docs', valuesFile: 'docs.yaml', jobId: 'se_2', version: 'v2', bundlePath: null },
  ...{ withinMs: WITHIN_MS, until: 'verdict' },
};

type Question = {
  /** What the replicas answer at a time of the question. */
  replies: (atMs: number) => readonly Reply[];
  input?: Partial<AskDeploymentInput>;
  /** How late the attempt is that is due at this time, because no worker runs. */
  lateMs?: (atMs: number) => number;
};

/** Asks as Temporal does, by a clock of its own, until there is a verdict. */
async function ask({
  replies,
  input,
  lateMs = () => 0,
}: Question): Promise<{ answer: DeploymentAnswer; atMs: number }> {
  const askDeployment = activityFor(replies(0).length);
  const question = { ...INPUT, ...input };
  let answer: DeploymentAnswer | undefined;
  let heartbeatDetails: unknown;
  for (let [atMs, attempt] = [0, 1]; attempt < 1_000; attempt++) {
    for (const [index, reply] of replies(atMs).entries()) Object.assign(replicas[index] ?? {}, { reply });
    const environment = activityEnvironment({ attempt, heartbeatDetails, currentAttemptScheduledTimestampMs: atMs });
    environment.on('heartbeat', (details: unknown) => {
      heartbeatDetails = details;
    });
    const asked = environment.run(async () => {
      answer = await askDeployment(question);
    });
    const failure = await asked.then(
      () => null,
      () => failureOf(asked),
    );
    if (answer !== undefined) return { answer, atMs };
    expect(failure).toMatchObject({ type: 'NotServed', category: 'BENIGN' });
    atMs += Number(failure?.nextRetryDelay) + lateMs(atMs);
  }
  throw new Error('no verdict after 1,000 questions');
}

const always =
  (...replies: Reply[]) =>
  () =>
    replies;

describe('a deployment that is asked what it serves', () => {
  it('is served once every statusUrl serves the job', async () => {
    const { answer, atMs } = await ask({ replies: (at) => [served, at < MINUTE_MS ? older : served] });
    expect(answer).toEqual({ verdict: 'served', why: null, servesVersion: 'v2', servesJobId: 'se_2' });
    expect(atMs).toBeGreaterThanOrEqual(MINUTE_MS);
  });

  const path = bundlePathOf('https://objects.test/a/bundle.tar.gz?signature=1');
  it.each([
    ['its version, if it reports no jobs', { version: 'v2' }, {}],
    ['the path of its link, if the bundle has no manifest', { ...empty, version: '0f1e2d', bundlePath: path }, {}],
    ['its job, whatever it calls the version', { ...older, jobId: 'se_2' }, { version: null }],
  ])('is served by %s', async (_, reply, changes) => {
    const { answer } = await ask({ replies: always(reply), input: { bundlePath: path, ...changes } });
    expect(answer.verdict).toBe('served');
  });

  it.each([
    ['another version', older, 'serves v1'],
    ['that it can’t serve this one', failing, 'serves v1: the link was refused'],
    [
      'that it has nothing, and why',
      { ...empty, lastError: failing.lastError },
      'serves nothing: the link was refused',
    ],
  ])('is other after confirmWithin if it answers %s', async (_, reply, why) => {
    const { answer, atMs } = await ask({ replies: always(reply) });
    expect(answer).toMatchObject({ verdict: 'other', why: `${replicas[0]?.site.host} ${why}` });
    expect(atMs).toBeCloseTo(WITHIN_MS, -4);
    expect(atMs).toBeGreaterThanOrEqual(WITHIN_MS);
  });

  it('names what it serves instead', async () => {
    expect((await ask({ replies: always(older) })).answer).toMatchObject({ servesVersion: 'v1', servesJobId: 'se_1' });
  });

  it.each<[string, Reply]>([
    ['gives no answer', 'cut'],
    ['is behind a proxy that answers 502 with a page', { status: 502, body: '<h1>Bad gateway</h1>' }],
    ['is behind a proxy that answers 503 with a status', { status: 503, body: JSON.stringify(older) }],
    ['is behind a proxy that answers 200 with a page', { status: 200, body: '<h1>Sign in</h1>' }],
    ['is behind a proxy that answers 200 with JSON', { error: 'maintenance' }],
    ['downloads', { ...older, download: { receivedBytes: 1, totalBytes: 2 } }],
    ['serves nothing and doesn’t say why', empty],
    ['is switched off', { ...older, state: 'off' }],
    ['serves a bundle of another link and no manifest', { ...empty, version: '0f1e2d', bundlePath: 'e'.repeat(64) }],
  ])('is unknown after confirmWithin if it %s', async (_, reply) => {
    const { answer, atMs } = await ask({ replies: always(reply), input: { bundlePath: path } });
    expect(answer.verdict).toBe('unknown');
    expect(answer.why).toContain(replicas[0]?.site.host);
    expect(atMs).toBeCloseTo(WITHIN_MS, -4);
    expect(atMs).toBeGreaterThanOrEqual(WITHIN_MS);
  });

  it('is unknown if nothing listens there', async () => {
    const site = await startHttpSite(() => undefined);
    await site.close();
    const { statusUrl } = { statusUrl: `http://ada:hush@${site.host}/-/status` };
    const config = galleyConfig.parse({
      adminApi: { url: 'https://api.example.com', key: 'galley_key' },
      sites: {
        docs: { domain: 'docs.example.com', export: { deployments: [{ valuesFile: 'docs.yaml', statusUrl }] } },
      },
    });
    const tallies = [{ others: 2, firstMs: 0, lastMs: 0, open: false }];
    const heartbeatDetails = { questions: 2, askedMs: 0, scheduledAtMs: 0, nextAfterMs: 0, tallies };
    const answer = await activityEnvironment({ heartbeatDetails }).run(
      createAskDeployment((name) => config.sites[name]),
      { ...INPUT, withinMs: 0 },
    );
    expect(answer).toMatchObject({ verdict: 'unknown', why: expect.stringContaining(`${site.host} can't be asked`) });
    expect(JSON.stringify(answer)).not.toContain('hush');
  });

  it.each<[string, (atMs: number) => Reply]>([
    ['in the first half of it only', (at) => (at < WITHIN_MS / 2 ? older : 'cut')],
    ['at its end only, as after a restart', (at) => (at < WITHIN_MS * 0.9 ? 'cut' : older)],
    ['with a long silence between', (at) => (at > WITHIN_MS * 0.1 && at < WITHIN_MS * 0.7 ? 'cut' : older)],
    ['until the last question', (at) => (at < WITHIN_MS ? older : 'cut')],
  ])('is unknown if it answers %s', async (_, reply) => {
    expect((await ask({ replies: (at) => [reply(at)] })).answer.verdict).toBe('unknown');
  });

  it('is other if an answer in between is lost', async () => {
    const { answer } = await ask({ replies: (at) => [Math.round(at / 1000) % 3 === 1 ? 'cut' : older] });
    expect(answer.verdict).toBe('other');
  });

  it('is asked at least three times, however short confirmWithin is', async () => {
    const { answer, atMs } = await ask({ replies: always(older), input: { withinMs: 500 } });
    expect([answer.verdict, atMs]).toEqual(['other', 2_000]);
  });

  it.each<[string, Reply, DeploymentAnswer['verdict']]>([
    ['gives no answer', 'cut', 'other'],
    ['serves the job', served, 'unknown'],
    ['downloads', { ...older, download: {} }, 'unknown'],
  ])('with two replicas, of which one has another version and one %s', async (_, second, verdict) => {
    expect((await ask({ replies: always(older, second) })).answer.verdict).toBe(verdict);
  });

  it('is not other if the lost replica was seen to serve the job', async () => {
    const { answer } = await ask({ replies: (at) => [older, at < MINUTE_MS ? served : 'cut'] });
    expect(answer.verdict).toBe('unknown');
  });

  it('is asked again after the time in which no worker could, which does not count', async () => {
    const DAY_MS = 86_400_000;
    // The only worker is away from the first question on, and again after a minute.
    const lateMs = (at: number): number => (at === 0 || (at > DAY_MS + MINUTE_MS && at < 1.5 * DAY_MS) ? DAY_MS : 0);
    const silent = await ask({ replies: always('cut'), lateMs });
    expect(silent.answer.verdict).toBe('unknown');
    expect(silent.atMs).toBeGreaterThanOrEqual(2 * DAY_MS + WITHIN_MS);
    const back = await ask({ replies: (at) => [at < DAY_MS ? older : served], lateMs });
    expect(back.answer.verdict).toBe('served');
  });

  it('counts a new question from zero', async () => {
    const first = await ask({ replies: always(older) });
    const second = await ask({ replies: always(older) });
    expect(second.atMs).toBe(first.atMs);
  });
});

describe('a deployment whose answer is awaited', () => {
  const HOUR_MS = 60 * MINUTE_MS;

  it('is never unknown, and other only after answers over confirmWithin', async () => {
    const { answer, atMs } = await ask({
      replies: (at) => [at < HOUR_MS ? 'cut' : older],
      input: { until: 'answer' },
    });
    expect(answer.verdict).toBe('other');
    expect(atMs).toBeGreaterThanOrEqual(HOUR_MS + (WITHIN_MS * 2) / 3);
  });

  it('is served at once', async () => {
    const { answer, atMs } = await ask({
      replies: (at) => [at < HOUR_MS ? 'cut' : served],
      input: { until: 'answer' },
    });
    expect(answer.verdict).toBe('served');
    expect(atMs).toBeLessThan(HOUR_MS + MINUTE_MS);
  });

  it('is asked until it serves the job, whatever else it answers', async () => {
    const { answer } = await ask({
      replies: (at) => [at < HOUR_MS ? older : served],
      input: { until: 'served' },
    });
    expect(answer.verdict).toBe('served');
  });
});

test('a worker that doesn’t know the deployment, or has no statusUrl for it, leaves the question to others', async () => {
  const asked = activityEnvironment().run(activityFor(1), { ...INPUT, valuesFile: 'x' });
  expect(await failureOf(asked)).toMatchObject({ type: 'NotConfigured' });
});
