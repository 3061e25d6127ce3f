import { setTimeout as sleep } from 'node:timers/promises';
import { defaultPayloadConverter, defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { createUnsubscribeLink } from '../../activities/reviewers/unsubscribe-link.ts';
import { SIGNALS } from '../../contract/names.ts';
import { publishedSignal } from '../../contract/publish-event.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, type RunningApi, startApi } from './running-api.ts';
import { signGithub, signToken } from './signing.ts';

const SECRET = 'hush';
const ADMIN_KEY = 'galley_unused';
const JOB = 'aj_0123456789abcdef';

let temporal: TestTemporal;
let api: RunningApi;
let withoutAttributes: RunningApi;

const rule = (name: string) => ({
  name,
  on: 'publish',
  prompt: 'Write {{ event.title }}',
  reviewers: ['ada@example.com'],
});

beforeAll(async () => {
  temporal = await connectTemporal();
  const webhooks = { token: { secret: SECRET }, github: { secret: SECRET } };
  const config = configWith({
    docs: { webhooks, agent: [rule('changelog'), rule('glossary')] },
    other: { webhooks },
  });
  api = await startApi({ client: temporal.client, config, searchAttributesReady: () => true });
  withoutAttributes = await startApi({ client: temporal.client, config });
});

afterAll(async () => {
  await api.stop();
  await withoutAttributes.stop();
  await temporal.stop();
});

async function deliver(site: string, body: object): Promise<{ status: number; body: unknown }> {
  const text = JSON.stringify(body);
  const headers = signToken({ secret: SECRET, body: text, path: '', at: new Date() });
  const answer = await fetch(`${api.url}/webhooks/${site}/token`, { method: 'POST', headers, body: text });
  return { status: answer.status, body: await answer.json() };
}

async function deliverGithub(site: string, event: string, body: object, to = api) {
  const text = JSON.stringify(body);
  const headers = await signGithub({ secret: SECRET, body: text, path: '', at: new Date() }, event);
  const answer = await fetch(`${to.url}/webhooks/${site}/github`, { method: 'POST', headers, body: text });
  return { status: answer.status, body: await answer.json(), deliveryId: headers['x-github-delivery'] };
}

/** The payloads of the signals of one name that a workflow holds, oldest first. */
async function signalsOf(workflowId: string, name: string): Promise<unknown[]> {
  const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (history.events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
    const payload = signal?.input?.payloads?.[0];
    return signal?.signalName === name && payload ? [defaultPayloadConverter.fromPayload(payload)] : [];
  });
}

describe('a publish of a site with agent rules', () => {
  test('reaches the export and each rule, and the rules get the event whole', async () => {
    const { status, body } = await deliver('docs', { title: 'Hello', id: 1 });
    expect([status, body]).toMatchObject([
      202,
      { accepted: ['export:docs', 'agent-rule:docs:changelog', 'agent-rule:docs:glossary'] },
    ]);
    for (const id of ['agent-rule:docs:changelog', 'agent-rule:docs:glossary']) {
      const signals = (await signalsOf(id, SIGNALS.published)).map((each) => publishedSignal.parse(each));
      expect(signals.at(-1)).toMatchObject({ newest: { title: 'Hello' }, events: [{ title: 'Hello' }] });
      expect(signals.at(-1)?.events).toHaveLength(signals.at(-1)?.deliveries.length ?? 0);
    }
    const description = await temporal.client.workflow.getHandle('agent-rule:docs:changelog').describe();
    expect(description).toMatchObject({ type: 'agentRule', taskQueue: 'galley-orchestrator' });
  });

  test('that takes content away prompts nobody', async () => {
    const { body } = await deliver('docs', { event: 'entry.unpublish', title: 'Gone', id: 2 });
    expect(body).toMatchObject({ accepted: ['export:docs'] });
  });

  test('is exported but prompts nobody where it is the merge of an agent’s own branch', async () => {
    const message = `Merge pull request #7 from acme/galley/${JOB}`;
    const push = { ref: 'refs/heads/main', after: 'abc', head_commit: { id: 'abc', message } };
    const { body } = await deliverGithub('docs', 'push', push);
    expect(body).toMatchObject({ accepted: ['export:docs'] });
  });

  test('of a burst tells a rule every event once, in order', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `burst-${index}`);
    const answers = await Promise.all(ids.map((id) => deliver('docs', { title: id, id })));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 202));
    const signals = await signalsOf('agent-rule:docs:changelog', SIGNALS.published);
    const titles = signals.flatMap((each) => publishedSignal.parse(each).events?.map(({ title }) => title) ?? []);
    expect(titles.filter((title) => title.startsWith('burst-')).sort()).toEqual([...ids].sort());
  });
});

describe('news of a pull request', () => {
  const pullRequestKey = defineSearchAttributeKey('GalleyPullRequest', SearchAttributeType.KEYWORD);

  /** A running change without a worker: what arrives is read from its history. */
  async function startChange(workflowId: string, prLink: string, { marked = true } = {}): Promise<void> {
    await temporal.client.workflow.start('agentChange', {
      workflowId,
      taskQueue: 'nobody',
      args: [],
      memo: { prLink },
      ...(marked && { typedSearchAttributes: [{ key: pullRequestKey, value: prLink }] }),
    });
    const query = `WorkflowId = '${workflowId}'`;
    for (;;) {
      for await (const _found of temporal.client.workflow.list({ query })) return;
      await sleep(100);
    }
  }

  const merged = (url: string) => ({
    action: 'closed',
    pull_request: { html_url: url, state: 'closed', merged: true, merge_commit_sha: 'c1', user: { login: 'bot' } },
  });

  test.each([
    ['found by search attribute', 1, () => api],
    ['found by memo where the namespace lacks the attributes', 2, () => withoutAttributes],
  ])('reaches the change that waits for it, %s', async (_how, number, receiver) => {
    const url = `https://github.com/acme/docs/pull/${number}`;
    await startChange(`agent:docs:changelog:d${number}`, url);
    const answer = await deliverGithub('docs', 'pull_request', merged(url), receiver());
    expect(answer).toMatchObject({ status: 202, body: { accepted: [`agent:docs:changelog:d${number}`] } });
    expect(await signalsOf(`agent:docs:changelog:d${number}`, SIGNALS.pullRequestChanged)).toMatchObject([
      { url, state: 'merged', mergeCommitSha: 'c1', deliveryId: answer.deliveryId },
    ]);
  });

  test.each([
    ['its worker settled without them', 'https://github.com/acme/docs/pull/5'],
    ['its address is too long for one', `https://github.com/acme/${'docs'.repeat(70)}/pull/6`],
  ])('reaches a change that lacks the search attribute because %s', async (_why, url) => {
    const id = `agent:docs:changelog:unmarked-${url.at(-1)}`;
    await startChange(id, url, { marked: false });
    expect((await deliverGithub('docs', 'pull_request', merged(url))).body).toMatchObject({ accepted: [id] });
  });

  test('of a review reaches it too', async () => {
    const url = 'https://github.com/acme/docs/pull/3';
    await startChange('agent:docs:changelog:d3', url);
    const review = { state: 'approved', user: { login: 'ada' }, submitted_at: '2026-11-21T07:30:00Z' };
    const body = { action: 'submitted', review, pull_request: merged(url).pull_request };
    expect((await deliverGithub('docs', 'pull_request_review', body)).body).toMatchObject({
      accepted: ['agent:docs:changelog:d3'],
    });
    expect(await signalsOf('agent:docs:changelog:d3', SIGNALS.reviewed)).toMatchObject([
      { url, reviewer: 'ada', verdict: 'approved' },
    ]);
  });

  test('that another site signed reaches no change of this one', async () => {
    const url = 'https://github.com/acme/docs/pull/4';
    await startChange('agent:docs:changelog:d4', url);
    const answer = await deliverGithub('other', 'pull_request', merged(url));
    expect(answer).toMatchObject({ status: 202, body: { accepted: [] } });
    expect(await signalsOf('agent:docs:changelog:d4', SIGNALS.pullRequestChanged)).toEqual([]);
  });

  test.each(["https://github.com/a/b/pull/1' OR WorkflowType = 'agentChange", 'https://github.com/a/b/pull/999'])(
    'nobody waits for is accepted and listed: %s',
    async (url) => {
      const answer = await deliverGithub('docs', 'pull_request', merged(url));
      expect(answer).toMatchObject({ status: 202, body: { accepted: [] } });
      const state = await fetch(`${api.url}/sites/docs`, { headers: { authorization: 'Bearer operator-token' } });
      expect(await state.json()).toMatchObject({
        deliveries: expect.arrayContaining([expect.objectContaining({ id: answer.deliveryId, outcome: 'filtered' })]),
      });
    },
  );
});

describe('an unsubscribe link', () => {
  function link(address: string, { site = 'docs', rule = 'changelog', key = ADMIN_KEY } = {}): string {
    return createUnsubscribeLink(api.url, { site, rule, address }, key);
  }

  test('asks when it is opened, and changes nothing by that', async () => {
    const answer = await fetch(link('<b>eve</b>@example.com'));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const page = await answer.text();
    expect(page).toContain('<form method="post">');
    expect(page).toContain('&lt;b&gt;eve');
    expect(await signalsOf('agent-rule:docs:changelog', SIGNALS.unsubscribed)).toEqual([]);
  });

  test('followed with one click tells the rule', async () => {
    const answer = await fetch(link('ada@example.com'), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('no more mail')]);
    expect(await signalsOf('agent-rule:docs:changelog', SIGNALS.unsubscribed)).toEqual([
      { address: 'ada@example.com' },
    ]);
  });

  test('of a rule that isn’t configured at the moment is remembered, should it come back', async () => {
    const answer = await fetch(link('ada@example.com', { rule: 'removed' }), { method: 'POST' });
    expect(answer.status).toBe(200);
    expect(await signalsOf('agent-rule:docs:removed', SIGNALS.unsubscribed)).toEqual([{ address: 'ada@example.com' }]);
  });

  test('with another key, address or rule in it is 404', async () => {
    const good = link('ada@example.com');
    const wrong = [
      link('ada@example.com', { key: 'galley_other' }),
      good.replace('/changelog/', '/glossary/'),
      good.replace(
        Buffer.from('ada@example.com').toString('base64url'),
        Buffer.from('eve@example.com').toString('base64url'),
      ),
      `${good}x`,
    ];
    for (const url of wrong) {
      for (const method of ['GET', 'POST']) expect((await fetch(url, { method })).status).toBe(404);
    }
  });

  test('takes no other method', async () => {
    const answer = await fetch(link('ada@example.com'), { method: 'DELETE' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });
});
