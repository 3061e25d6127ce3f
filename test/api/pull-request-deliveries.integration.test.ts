import { defaultPayloadConverter, defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { SIGNALS } from '../../contract/names.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, OPERATOR_TOKEN, type RunningApi, startApi } from './running-api.ts';
import { signGithub } from './sources/vendors/github.ts';

const SECRET = 'hush';
const pullRequestKey = defineSearchAttributeKey('GalleyPullRequest', SearchAttributeType.KEYWORD);

let temporal: TestTemporal;
let api: RunningApi;
let withoutAttributes: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  const webhooks = { github: { secret: SECRET } };
  const config = configWith({ docs: { webhooks }, other: { webhooks } });
  api = await startApi({ client: temporal.client, config, searchAttributesReady: () => true });
  withoutAttributes = await startApi({ client: temporal.client, config });
});

afterAll(async () => {
  await api.stop();
  await withoutAttributes.stop();
  await temporal.stop();
});

async function deliver(site: string, event: string, body: object, to = api) {
  const text = JSON.stringify(body);
  const headers = await signGithub({ secret: SECRET, body: text, path: '', at: new Date() }, event);
  const response = await fetch(`${to.url}/webhooks/${site}/github`, { method: 'POST', headers, body: text });
  return { status: response.status, body: await response.json(), deliveryId: headers['x-github-delivery'] };
}

/** The payloads of a workflow's signals with this name, oldest first. */
async function signalsOf(workflowId: string, name: string): Promise<unknown[]> {
  const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (history.events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
    const payload = signal?.input?.payloads?.[0];
    return signal?.signalName === name && payload ? [defaultPayloadConverter.fromPayload(payload)] : [];
  });
}

/** Starts a change and waits until visibility lists it. It needs no worker, because the tests read its history. */
async function startChange(workflowId: string, prLink: string, { withAttribute = true } = {}): Promise<void> {
  await temporal.client.workflow.start('agentChange', {
    workflowId,
    taskQueue: 'without-workers',
    args: [],
    memo: { prLink },
    ...(withAttribute && { typedSearchAttributes: [{ key: pullRequestKey, value: prLink }] }),
  });
  const query = `WorkflowId = '${workflowId}'`;
  const isListed = async () => (await temporal.client.workflow.count(query)).count > 0;
  await waitFor(isListed, { describe: 'listed the change' });
}

const merged = (url: string) => ({
  action: 'closed',
  pull_request: { html_url: url, state: 'closed', merged: true, merge_commit_sha: 'c1', user: { login: 'bot' } },
});

describe('an event of a pull request', () => {
  test.each([
    ['by search attribute', 1, () => api],
    ['by memo if the namespace lacks the attributes', 2, () => withoutAttributes],
  ])('reaches its change, found %s', async (_how, number, receiver) => {
    const [url, id] = [`https://github.com/acme/docs/pull/${number}`, `agent:docs:changelog:d${number}`];
    await startChange(id, url);
    const response = await deliver('docs', 'pull_request', merged(url), receiver());
    expect(response).toMatchObject({ status: 202, body: { accepted: [id] } });
    expect(await signalsOf(id, SIGNALS.pullRequestChanged)).toMatchObject([
      { url, state: 'merged', mergeCommitSha: 'c1', deliveryId: response.deliveryId },
    ]);
  });

  test.each([
    ['its worker started before the attributes', 'https://github.com/acme/docs/pull/5'],
    ['its URL is too long for one', `https://github.com/acme/${'docs'.repeat(70)}/pull/6`],
  ])('reaches a change without the search attribute because %s', async (_why, url) => {
    const id = `agent:docs:changelog:unmarked-${url.at(-1)}`;
    await startChange(id, url, { withAttribute: false });
    expect((await deliver('docs', 'pull_request', merged(url))).body).toMatchObject({ accepted: [id] });
  });

  test('also reaches its change if it is a review', async () => {
    const [url, id] = ['https://github.com/acme/docs/pull/3', 'agent:docs:changelog:d3'];
    await startChange(id, url);
    const review = { state: 'approved', user: { login: 'ada' }, submitted_at: '2026-11-21T07:30:00Z' };
    const body = { action: 'submitted', review, pull_request: merged(url).pull_request };
    expect((await deliver('docs', 'pull_request_review', body)).body).toMatchObject({ accepted: [id] });
    expect(await signalsOf(id, SIGNALS.reviewed)).toMatchObject([{ url, reviewer: 'ada', verdict: 'approved' }]);
  });

  test('does not reach the change if another site received it', async () => {
    const [url, id] = ['https://github.com/acme/docs/pull/4', 'agent:docs:changelog:d4'];
    await startChange(id, url);
    const response = await deliver('other', 'pull_request', merged(url));
    expect(response).toMatchObject({ status: 202, body: { accepted: [] } });
    expect(await signalsOf(id, SIGNALS.pullRequestChanged)).toEqual([]);
  });

  test.each(["https://github.com/a/b/pull/1' OR WorkflowType = 'agentChange", 'https://github.com/a/b/pull/999'])(
    'is accepted without a matching change, and listed with the reason: %s',
    async (url) => {
      const response = await deliver('docs', 'pull_request', merged(url));
      expect(response).toMatchObject({ status: 202, body: { accepted: [] } });
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
      const state = await (await fetch(`${api.url}/sites/docs`, { headers })).json();
      const why = 'no agent change of this site waits for this pull request';
      const listed = { id: response.deliveryId, outcome: 'filtered', topic: 'pull-request', why };
      expect(state).toMatchObject({ deliveries: expect.arrayContaining([expect.objectContaining(listed)]) });
    },
  );
});
