import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type AgentChangeState, agentChangeState } from '../../contract/agent-state.ts';
import { QUERIES, WORKFLOW_IDS } from '../../contract/names.ts';
import { siteState } from '../../contract/site-state.ts';
import { UNCHANGING_PROJECT } from '../helpers/admin-api/seed-agent-jobs.ts';
import { signContentful } from '../helpers/sign-contentful.ts';
import { CONTENTFUL_SECRET } from '../helpers/system/orchestrator.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { type SeedSystem, startSeedSystem } from '../helpers/system/seed-system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { workflowChain } from '../helpers/system/workflow-chain.ts';

const HOUR_MS = 3_600_000;

const rule = { name: 'changelog', on: 'publish', prompt: 'Mention {{ event.title }}.', quietPeriod: '300ms' } as const;

/** The site that gets a storm of deliveries. */
const SITE = 'storm';
const IN_FLIGHT = 64;
/** The number of acknowledged deliveries before the receiver is killed. */
const ENOUGH = 600;

const quick = { quietPeriod: '100ms', maxWait: '1s', refreshMargin: '40%' } as const;

describe("an Admin API with only the specification's fields", () => {
  let system: SeedSystem;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startSeedSystem({
      sites: [
        { name: 'plain', domain: 'plain.example.test', export: quick },
        { name: 'prompted', domain: 'prompted.example.test', export: quick, projectId: 'prj/№ 1', agent: [rule] },
        { name: SITE, domain: 'storm.example.test', export: { quietPeriod: '200ms', maxWait: '1s' } },
        {
          name: 'unchanging',
          domain: 'unchanging.example.test',
          export: quick,
          projectId: UNCHANGING_PROJECT,
          agent: [rule],
        },
      ],
      adminApi: {
        linkTtlMs: 10_000,
        // With a skewed clock: by our clock, its links would expire before they are created.
        clockSkewMs: -HOUR_MS,
        statusWords: ['QUEUED', 'pre_rendering', 'Finalizing …'],
      },
      variables: { MIN_REFRESH_INTERVAL: '1s' },
    });
  });

  afterAll(() => system?.stop());

  scenario('is sufficient, with unknown status words and any date format', async () => {
    const { adminApi } = system;
    adminApi.edit('plain.example.test', 'first edition');
    expect((await system.publish('plain')).status).toBe(202);
    await waitFor(async () => (await system.served('plain')).includes('home first edition'), {
      describe: 'served the first edition',
    });

    adminApi.edit('plain.example.test', 'second edition');
    await system.publish('plain');
    await waitFor(async () => (await system.served('plain')).includes('home second edition'), {
      describe: 'served the second edition',
    });
    expect(await system.state('plain')).toMatchObject({ phase: 'live', lastError: null });

    const values = async (): Promise<string> => await readFile(system.valuesFile('plain'), 'utf8');
    const links = new Set<string>();
    await waitFor(
      async () => {
        links.add(await values());
        return links.size > 2;
      },
      { describe: 'refreshed the link twice' },
    );
  });

  scenario('is sufficient for agents: a prompt leads to a pull request, or to none', async () => {
    const untilEnded = async (site: string, phase: string): Promise<AgentChangeState> => {
      const response = await system.publish(site, `{{ a page }} of ${site}`);
      const { deliveryId } = z.object({ deliveryId: z.string() }).parse(await response.json());
      const handle = system.temporal.client.workflow.getHandle(WORKFLOW_IDS.agentChange(site, rule.name, deliveryId));
      return await waitFor(
        async () => {
          const state = await handle.query<unknown>(QUERIES.state).catch(() => undefined);
          const parsed = agentChangeState.safeParse(state);
          return parsed.success && parsed.data.phase === phase && parsed.data;
        },
        { describe: `reached ${phase}` },
      );
    };
    const state = await untilEnded('prompted', 'in-review');
    const job = system.adminApi.agentJobs().find(({ projectId }) => projectId === 'prj/№ 1');
    expect(job?.prompt).toBe('Mention {{ a page }} of prompted.');
    expect(state).toMatchObject({ jobId: job?.id, prLink: job?.prLink, error: null });
    expect(await untilEnded('unchanging', 'unchanged')).toMatchObject({ prLink: null, error: null });
    expect(system.adminApi.agentJobs()).toHaveLength(2);
  });

  /** Sends a delivery. Resolves with whether the receiver acknowledged it. */
  const deliver = async (id: string): Promise<boolean> => {
    const path = `/webhooks/${SITE}/contentful`;
    const body = JSON.stringify({ sys: { type: 'Entry', id }, fields: { title: { 'en-US': id } } });
    const headers = signContentful({ secret: CONTENTFUL_SECRET, body, path, at: new Date() }, 'Entry.publish', id);
    try {
      const response = await fetch(system.url + path, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status === 202;
    } catch {
      return false;
    }
  };

  /** The deliveries in the signals of the site's workflow, over all its runs, in the order of arrival. */
  const signaledDeliveries = async (): Promise<string[]> => {
    const runs = await workflowChain(system.temporal.client, WORKFLOW_IDS.exportSite(SITE));
    return runs.flatMap(({ signals }) => signals.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)));
  };

  scenario('loses no delivery that a killed receiver acknowledged, and counts resends of the others once', async () => {
    const acknowledged = new Set<string>();
    const unanswered = new Set<string>();
    let sent = 0;
    let killed: Promise<void> | undefined;
    const sendUntilKilled = async (): Promise<void> => {
      while (killed === undefined) {
        const id = `delivery-${sent++}`;
        const delivered = deliver(id);
        // Kill right after sending: this delivery and the others in flight are then partly processed.
        if (acknowledged.size >= ENOUGH) killed = system.programs.kill('api');
        ((await delivered) ? acknowledged : unanswered).add(id);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, sendUntilKilled));
    await killed;

    const before = new Set(await signaledDeliveries());
    expect([...acknowledged].filter((id) => !before.has(id))).toEqual([]);
    expect(unanswered.size).toBeGreaterThan(0);

    await system.programs.restart('api');
    for (const id of unanswered) await waitFor(() => deliver(id), { describe: `acknowledged ${id}` });
    const signaled = await signaledDeliveries();
    expect(new Set(signaled)).toEqual(new Set([...acknowledged, ...unanswered]));
    const signaledTwice = new Set(signaled.filter((id, index) => signaled.indexOf(id) < index));
    expect([...unanswered].filter((id) => before.has(id) && !signaledTwice.has(id))).toEqual([]);
    const handle = system.temporal.client.workflow.getHandle(WORKFLOW_IDS.exportSite(SITE));
    const { deliveries } = siteState.parse(await handle.query(QUERIES.state));
    // Newest first: the resends, then possibly the first arrival of the same deliveries.
    const resends = deliveries.slice(0, unanswered.size);
    expect(resends.filter(({ id }) => !unanswered.has(id))).toEqual([]);
    for (const { id, outcome } of resends) expect([id, outcome === 'duplicate']).toEqual([id, signaledTwice.has(id)]);
  });
});
