import { QUERIES, WORKFLOW_IDS } from '../../contract/names.ts';
import { siteState } from '../../contract/site-state.ts';
import { signContentful } from '../api/signing.ts';
import { CONTENTFUL_SECRET } from '../helpers/system/orchestrator.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { type SeedSystem, startSeedSystem } from '../helpers/system/seed-system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { workflowChain } from '../helpers/system/workflow-chain.ts';

const SITE = 'storm';
const IN_FLIGHT = 64;
/** Deliveries acknowledged before the receiver is killed. */
const ENOUGH = 600;

describe('a storm of deliveries', () => {
  let system: SeedSystem;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startSeedSystem({
      sites: [{ name: SITE, domain: 'storm.example.test', export: { quietPeriod: '200ms', maxWait: '1s' } }],
      adminApi: { linkTtlMs: 3_600_000, statusWords: ['queued', 'running'] },
    });
  }, 240_000);

  afterAll(async () => {
    await system?.stop();
  });

  /** Whether the receiver acknowledged it. */
  const deliver = async (id: string): Promise<boolean> => {
    const path = `/webhooks/${SITE}/contentful`;
    const body = JSON.stringify({ sys: { type: 'Entry', id }, fields: { title: { 'en-US': id } } });
    const headers = signContentful({ secret: CONTENTFUL_SECRET, body, path, at: new Date() }, 'Entry.publish', id);
    try {
      const answer = await fetch(system.url + path, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      return answer.status === 202;
    } catch {
      return false;
    }
  };

  /** The deliveries that the site's workflow holds, over all its runs, in the order of arrival. */
  const held = async (): Promise<string[]> => {
    const runs = await workflowChain(system.temporal.client, WORKFLOW_IDS.exportSite(SITE));
    return runs.flatMap(({ signals }) => signals.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)));
  };

  scenario('loses nothing acknowledged to a receiver that is killed, and resends of the rest count once', async () => {
    const acknowledged = new Set<string>();
    const unanswered = new Set<string>();
    let sent = 0;
    let killed: Promise<void> | undefined;
    const sendUntilKilled = async (): Promise<void> => {
      while (killed === undefined) {
        const id = `delivery-${sent++}`;
        const answer = deliver(id);
        // With one just sent, and the others somewhere between the receiver's door and Temporal's answer.
        if (acknowledged.size >= ENOUGH) killed = system.programs.kill('api');
        ((await answer) ? acknowledged : unanswered).add(id);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, sendUntilKilled));
    await killed;

    const before = new Set(await held());
    expect([...acknowledged].filter((id) => !before.has(id))).toEqual([]);
    expect(unanswered.size).toBeGreaterThan(0);

    await system.programs.restart('api');
    for (const id of unanswered) await waitFor(() => deliver(id), { describe: `acknowledged ${id}` });
    const carried = await held();
    expect(new Set(carried)).toEqual(new Set([...acknowledged, ...unanswered]));
    const carriedAgain = new Set(carried.filter((id, index) => carried.indexOf(id) < index));
    expect([...unanswered].filter((id) => before.has(id) && !carriedAgain.has(id))).toEqual([]);
    const handle = system.temporal.client.workflow.getHandle(WORKFLOW_IDS.exportSite(SITE));
    const { deliveries } = siteState.parse(await handle.query(QUERIES.state));
    // Newest first: the resends, and behind them what may be the same deliveries' first arrival.
    const resends = deliveries.slice(0, unanswered.size);
    expect(resends.filter(({ id }) => !unanswered.has(id))).toEqual([]);
    for (const { id, outcome } of resends) expect([id, outcome === 'duplicate']).toEqual([id, carriedAgain.has(id)]);
  });
});
