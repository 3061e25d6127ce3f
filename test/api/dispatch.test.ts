import { createUnsubscribeLink } from '../../activities/mails/reviewers/unsubscribe-link.ts';
import { SIGNALS } from '../../contract/names.ts';
import { newState } from '../../workflows/agent-rule/state.ts';
import { applyDeliveries, dropWaiting } from '../../workflows/agent-rule/transitions.ts';
import { createSeenDeliveries } from '../../workflows/deliveries/seen-deliveries.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { configWith, startRecordingApi } from './running-api.ts';
import { signGithub } from './sources/vendors/github.ts';
import { signToken } from './sources/vendors/token.ts';

const SECRET = 'hush';
const ADMIN_KEY = 'galley_unused';
const UNSUBSCRIBE_SECRET = 'secret-of-the-links';
const [CHANGELOG, GLOSSARY] = ['agent-rule:docs:changelog', 'agent-rule:docs:glossary'];

const rule = (name: string) => ({
  name,
  on: 'publish',
  prompt: 'Write {{ event.title }}',
  reviewers: ['ada@example.com'],
});

const webhooks = { token: { secret: SECRET }, github: { secret: SECRET } };
const config = configWith({ docs: { webhooks, agent: [rule('changelog'), rule('glossary')] } });
const api = await startRecordingApi(config, {}, { unsubscribeSecret: UNSUBSCRIBE_SECRET });

afterAll(() => api.stop());

async function deliver(body: object): Promise<{ status: number; body: unknown }> {
  const text = JSON.stringify(body);
  const headers = signToken({ secret: SECRET, body: text, path: '', at: new Date() });
  const response = await fetch(`${api.url}/webhooks/docs/token`, { method: 'POST', headers, body: text });
  return { status: response.status, body: await response.json() };
}

describe('a publish of a site with agent rules', () => {
  test('signals the export and each rule, and the rules get all events', async () => {
    const { body } = await deliver({ title: 'Hello', id: 1 });
    expect(body).toMatchObject({ accepted: ['export:docs', CHANGELOG, GLOSSARY] });
    for (const id of [CHANGELOG, GLOSSARY]) {
      expect(api.published(id)).toMatchObject([{ newest: { title: 'Hello' }, events: [{ title: 'Hello' }] }]);
    }
    expect(api.published('export:docs')).not.toHaveProperty([0, 'events']);
    expect(api.sent.find(({ workflowId }) => workflowId === CHANGELOG)).toMatchObject({
      type: 'agentRule',
      taskQueue: 'galley-orchestrator',
    });
  });

  test('that removes content prompts no rule', async () => {
    const { body } = await deliver({ event: 'entry.unpublish', title: 'Gone', id: 2 });
    expect(body).toMatchObject({ accepted: ['export:docs'] });
  });

  test('that merges an agent’s own branch prompts no rule', async () => {
    const message = 'Merge pull request #7 from acme/galley/aj_0123456789abcdef';
    const text = JSON.stringify({ ref: 'refs/heads/main', after: 'abc', head_commit: { id: 'abc', message } });
    const headers = await signGithub({ secret: SECRET, body: text, path: '', at: new Date() });
    const response = await fetch(`${api.url}/webhooks/docs/github`, { method: 'POST', headers, body: text });
    expect(await response.json()).toMatchObject({ accepted: ['export:docs'] });
  });

  test('reaches the export and a rule exactly once in a burst', async () => {
    const titles = Array.from({ length: 40 }, (_, index) => `burst-${index}`);
    const answers = await Promise.all(titles.map((title) => deliver({ title })));
    expect(answers.map(({ status }) => status)).toEqual(titles.map(() => 202));
    const received = api.published(CHANGELOG).flatMap(({ events = [] }) => events.map(({ title }) => title));
    expect(received.filter((title) => title.startsWith('burst-')).sort()).toEqual([...titles].sort());
    const ids = api.published('export:docs').flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(titles.length);
  });
});

describe('a delivery without an id whose acknowledgment is lost', () => {
  test.each([
    ['of the rule', CHANGELOG],
    ['of the export', 'export:docs'],
  ])('gets a 503, and its resend prompts no second time: %s', async (_whose, workflow) => {
    const state = newState();
    const seen = createSeenDeliveries();
    let applied = api.published(CHANGELOG).length;
    const prompts = (): number => {
      const arrived = api.published(CHANGELOG).slice(applied);
      applied += arrived.length;
      for (const signal of arrived) applyDeliveries(state, seen, signal, Date.now());
      const count = state.waiting?.count ?? 0;
      dropWaiting(state);
      return count;
    };
    const body = { title: 'Lost', id: workflow };
    api.unacknowledged.add(workflow);
    expect((await deliver(body)).status).toBe(503);
    // The rule's signal may still be under way.
    await waitFor(() => api.published(CHANGELOG).length > applied, { describe: 'signaled the rule' });
    expect(prompts()).toBe(1);
    api.unacknowledged.clear();
    expect((await deliver(body)).status).toBe(202);
    expect(prompts()).toBe(0);
    // Now it is a second publish.
    expect((await deliver(body)).status).toBe(202);
    expect(prompts()).toBe(1);
  });
});

describe('an unsubscribe link', () => {
  function link(address: string, { rule = 'changelog', key = ADMIN_KEY } = {}): string {
    return createUnsubscribeLink(api.url, { site: 'docs', rule, address }, key);
  }
  const unsubscribed = () =>
    api.sent.flatMap(({ workflowId, name, payload }) => (name === SIGNALS.unsubscribed ? [[workflowId, payload]] : []));

  beforeEach(() => {
    api.sent.length = 0;
  });

  test('shows a confirmation page when opened, and changes nothing yet', async () => {
    const response = await fetch(link('<b>eve</b>@example.com'));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const page = await response.text();
    expect(page).toContain('<form method="post">');
    expect(page).toContain('&lt;b&gt;eve');
    expect(unsubscribed()).toEqual([]);
  });

  test.each([
    ['the unsubscribe secret', UNSUBSCRIBE_SECRET],
    ['the Admin API key, as in earlier mails', ADMIN_KEY],
  ])('signed with %s signals the rule on POST, as mail programs send it for one-click unsubscribe', async (_, key) => {
    const response = await fetch(link('ada@example.com', { key }), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('no more mail')]);
    expect(unsubscribed()).toEqual([[CHANGELOG, { address: 'ada@example.com' }]]);
  });

  test('works for a rule that is no longer configured', async () => {
    expect((await fetch(link('ada@example.com', { rule: 'removed' }), { method: 'POST' })).status).toBe(200);
    expect(unsubscribed()).toEqual([['agent-rule:docs:removed', { address: 'ada@example.com' }]]);
  });

  test('with another key, address or rule is 404', async () => {
    const good = link('ada@example.com');
    const encoded = (address: string) => Buffer.from(address).toString('base64url');
    const wrong = [
      link('ada@example.com', { key: 'galley_other' }),
      good.replace('/changelog/', '/glossary/'),
      good.replace(encoded('ada@example.com'), encoded('eve@example.com')),
      `${good}x`,
    ];
    for (const url of wrong) {
      for (const method of ['GET', 'POST']) expect((await fetch(url, { method })).status).toBe(404);
    }
    expect(unsubscribed()).toEqual([]);
  });
});
