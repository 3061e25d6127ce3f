import { WorkflowFailedError } from '@temporalio/client';
import { z } from 'zod';
import { createStartNotifications } from '../../activities/notifications/start-notifications.ts';
import { targetsOf } from '../../activities/notifications/targets.ts';
import type { NotifyConfig } from '../../contract/galley-config.ts';
import type { NotificationEvent } from '../../contract/notification.ts';
import type { SiteState } from '../../contract/site-state.ts';
import { galleyConfig } from '../../programs/config/galley-yaml.ts';
import { activityEnvironment } from '../activities/activity-environment.ts';
import { type NotificationReceiver, startNotificationReceiver } from '../helpers/notification-receiver.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const webhookBody = z.object({
  type: z.string(),
  timestamp: z.string(),
  data: z.looseObject({ site: z.string() }),
});

let receivers: Record<'webhook' | 'slack' | 'hanging' | 'failing', NotificationReceiver> | undefined;
/** The worker uses this array, and a test removes a target from it. */
const notify: NotifyConfig = [];

beforeAll(async () => {
  const [webhook, slack, hanging, failing] = await Promise.all([1, 2, 3, 4].map(startNotificationReceiver));
  if (!webhook || !slack || !hanging || !failing) throw new Error('A receiver is missing');
  receivers = { webhook, slack, hanging, failing };
  hanging.answer = () => {};
  const adminApi = { url: 'http://127.0.0.1', key: 'unused' };
  const targets = [
    { webhook: webhook.url, secret: SECRET },
    { slack: slack.url, on: ['served'] },
    { webhook: hanging.url, secret: SECRET },
    { webhook: failing.url, secret: SECRET, on: ['failed', 'recovered'] },
  ];
  notify.push(...galleyConfig.parse({ adminApi, notify: targets }).notify);
});
afterAll(async () => {
  await Promise.all(Object.values(receivers ?? {}).map((receiver) => receiver.close()));
});

const { startSite, server, closeLater } = useSites('dev-server', () => ({
  notify,
  timing: { timeoutMs: 10_000, unknownForMs: 1_000 },
}));

function receiver(name: 'webhook' | 'slack' | 'hanging' | 'failing'): NotificationReceiver {
  if (receivers === undefined) throw new Error('The receivers are not started yet');
  return receivers[name];
}

/** The webhook events of a site that a receiver got. */
function eventsOf({ site }: SiteFixture, from = receiver('webhook')) {
  const deliveries = from.received.map(({ headers, body }) => ({
    id: String(headers['webhook-id']),
    ...webhookBody.parse(JSON.parse(body)),
  }));
  return deliveries.filter(({ data }) => data.site === site);
}

async function untilTypes(site: SiteFixture, types: string[], from = receiver('webhook')) {
  await waitFor(() => eventsOf(site, from).length >= types.length, { describe: `sent ${types.join(', ')}` });
  const events = eventsOf(site, from);
  expect(events.map(({ type }) => type).sort()).toEqual([...types].sort());
  return events;
}

/** The ids of a site's delivery workflows. */
async function deliveriesOf({ site }: SiteFixture): Promise<string[]> {
  const ids: string[] = [];
  const query = `WorkflowType = 'notification'`;
  for await (const { workflowId } of server().client.workflow.list({ query })) {
    if (workflowId.startsWith(`notify:${site}:`)) ids.push(workflowId);
  }
  return ids;
}

/** Those to one target, once Temporal lists at least `count`. */
async function sentTo(site: SiteFixture, target: NotificationReceiver, count: number): Promise<string[]> {
  const { host } = new URL(target.url);
  const list = async (): Promise<string[] | undefined> => {
    const ids: string[] = [];
    for (const id of await deliveriesOf(site)) {
      const { memo } = await server().client.workflow.getHandle(id).describe();
      if (memo?.host === host) ids.push(id);
    }
    return ids.length >= count ? ids : undefined;
  };
  return await waitFor(list, { describe: `listed ${count} deliveries` });
}

describe('a site with notification targets', () => {
  it.concurrent('reports a burst of publishes once and the served version once, also if one target hangs', async () => {
    const site = await startSite({ quietPeriod: '5s', maxWait: '1m' });
    await Promise.all(Array.from({ length: 30 }, (_, number) => site.publish({ title: `Page ${number}` })));
    const { version } = await site.until('live', ({ phase }) => phase === 'live');
    const [published, served] = (await untilTypes(site, ['published', 'served'])).toSorted((a, b) =>
      a.type.localeCompare(b.type),
    );
    expect(published?.data).toMatchObject({ publishes: 30, title: expect.stringContaining('Page') });
    expect(served?.data).toMatchObject({ version, jobId: site.api.jobs[0]?.jobId, rolledBack: false });
    await waitFor(() => eventsOf(site, receiver('hanging')).length >= 2, { describe: 'tried the hanging target' });
    const text = `*${site.site}*: serves ${version}`;
    await waitFor(
      () =>
        receiver('slack')
          .bodies()
          .some((body) => JSON.stringify(body).includes(text)),
      {
        describe: 'notified Slack',
      },
    );

    site.configure({ quietPeriod: '200ms' });
    // A refresh is not an event.
    await site.handle.executeUpdate('refreshNow');
    await site.publish();
    await untilTypes(site, ['published', 'published', 'served', 'served']);
    await site.handle.executeUpdate('rollback', { args: [String(version)] });
    const all = await untilTypes(site, ['published', 'published', 'served', 'served', 'served']);
    expect(all.at(-1)?.data).toMatchObject({ version, rolledBack: true });
    expect(new Set(all.map(({ id }) => id)).size).toBe(5);
    const delivered = await sentTo(site, receiver('webhook'), 5);
    expect(delivered).toHaveLength(5);
    closeLater({ workflowIds: () => delivered, close: async () => {} });
  });

  it.concurrent('delivers an event once, although its delivery is started several times', async () => {
    const site = await startSite();
    await site.publish();
    await untilTypes(site, ['published', 'served']);
    const event: NotificationEvent = {
      ...{ id: 'served-again', at: new Date().toISOString(), type: 'served' },
      data: { site: site.site, domain: 'docs.example.com', version: 'v9', jobId: 'se_9', rolledBack: false },
    };
    const { taskQueue } = await site.handle.describe();
    const startNotifications = createStartNotifications({
      ...{ targets: targetsOf(notify), client: server().client },
      readSite: () => undefined,
    });
    const startDelivery = () =>
      activityEnvironment({ taskQueue }).run(startNotifications, { site: site.site, events: [event] });
    await Promise.all([startDelivery(), startDelivery()]);
    await untilTypes(site, ['published', 'served', 'served']);
    await startDelivery();
    await site.publish();
    await untilTypes(site, ['published', 'published', 'served', 'served', 'served']);
  });
});

// The last two replace the shared worker.
describe('a site with a notification target that fails at first', () => {
  it('reports a persistent failure and its end once each, although the receiver fails at first', async () => {
    const failing = receiver('failing');
    const rejected = new Set<string>();
    failing.answer = (response, { headers }) => {
      const id = String(headers['webhook-id']);
      response.writeHead(rejected.has(id) ? 200 : 503).end();
      rejected.add(id);
    };
    const site = await startSite({ tellAfter: '1s' });
    site.api.behaviour.succeed = false;
    await site.publish();
    await waitFor(() => eventsOf(site, failing).length >= 2, { describe: 'reported the failure' });
    await site.continueInNewBuild();
    // A publish ends the back-off of an export that has failed, not of one that is about to fail.
    const allWait = ({ phase, pendingCount }: SiteState): boolean => phase === 'failed' && pendingCount === 2;
    await site.until('waiting with all publishes', allWait);
    site.api.behaviour.succeed = true;
    await site.publish();
    await site.until('over', ({ phase, trouble }) => phase === 'live' && trouble === null);
    await waitFor(() => eventsOf(site, failing).length >= 4, { describe: 'reported the end' });
    // Each event was retried with the same id after the 503.
    const events = eventsOf(site, failing);
    expect(events.map(({ type }) => type)).toEqual(['failed', 'failed', 'recovered', 'recovered']);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
    expect(events[0]?.data).toMatchObject({ error: expect.stringContaining('failed'), since: expect.any(String) });
    expect(events[2]?.data).toMatchObject({ since: events[0]?.data.since, version: expect.any(String) });
    const ids = await sentTo(site, failing, 2);
    await Promise.all(ids.map((id) => server().client.workflow.getHandle(id).result()));
  });
});

describe('a target that is removed', () => {
  it('ends its waiting deliveries with the reason', async () => {
    const site = await startSite();
    await site.publish();
    await untilTypes(site, ['published', 'served']);
    const hanging = receiver('hanging');
    const waiting = await sentTo(site, hanging, 2);
    expect(waiting.length).toBe(2);
    await site.stopWorker();
    notify.splice(2, 1);
    await site.startWorker();
    closeLater({ workflowIds: () => waiting, close: async () => {} });
    for (const id of waiting) {
      const result = server().client.workflow.getHandle(id).result();
      const error: unknown = await result.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!(error instanceof WorkflowFailedError)) throw error;
      expect(error.cause?.cause).toHaveProperty(
        'message',
        `notify 3 (${new URL(hanging.url).host}) was removed from galley.yaml, or its URL was changed`,
      );
    }
  });
});
