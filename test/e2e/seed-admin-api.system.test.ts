import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type AgentChangeState, agentChangeState } from '../../contract/agent-state.ts';
import { QUERIES, WORKFLOW_IDS } from '../../contract/names.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { UNCHANGING_PROJECT } from '../helpers/system/seed-agent-jobs.ts';
import { type SeedSystem, startSeedSystem } from '../helpers/system/seed-system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const HOUR_MS = 3_600_000;

const rule = { name: 'changelog', on: 'publish', prompt: 'Mention {{ event.title }}.', quietPeriod: '300ms' } as const;

/** How long the site `storm` puts an export off while publishes keep coming. */
const STORM_MAX_WAIT_MS = 3_000;

const quick = { quietPeriod: '100ms', maxWait: '1s', refreshMargin: '40%' } as const;

const storm = { ...quick, quietPeriod: '2s', maxWait: `${STORM_MAX_WAIT_MS}ms` } as const;

describe("an Admin API with the specification's fields only", () => {
  let system: SeedSystem;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startSeedSystem({
      sites: [
        { name: 'rough', domain: 'rough.example.test', export: quick },
        { name: 'prompted', domain: 'prompted.example.test', export: quick, projectId: 'prj/№ 1', agent: [rule] },
        {
          name: 'unchanging',
          domain: 'unchanging.example.test',
          export: quick,
          projectId: UNCHANGING_PROJECT,
          agent: [rule],
        },
        { name: 'storm', domain: 'storm.example.test', export: storm },
      ],
      adminApi: {
        linkTtlMs: 10_000,
        // A clock of its own: read with ours, its links would have ended before they were made.
        clockSkewMs: -HOUR_MS,
        statusWords: ['QUEUED', 'pre_rendering', 'Finalizing …'],
        manners: {
          'rough.example.test': {
            start: ['html-error', 'cut-json'],
            read: ['html-error', 'well', 'cut-connection', 'cut-json'],
            bundle: ['cut-json', 'html-error', 'cut-connection', 'well', 'html-error', 'well', 'cut-json'],
          },
        },
      },
      variables: { MIN_REFRESH_INTERVAL: '1s' },
    });
  });

  afterAll(async () => {
    await system?.stop();
  });

  scenario('is enough, with error pages, cut answers, unknown status words and dates of every spelling', async () => {
    const { adminApi } = system;
    adminApi.edit('rough.example.test', 'first edition');
    expect((await system.publish('rough')).status).toBe(202);
    await waitFor(async () => (await system.served('rough')).includes('home first edition'), {
      describe: 'served the first edition',
    });

    adminApi.edit('rough.example.test', 'second edition');
    await system.publish('rough');
    await waitFor(async () => (await system.served('rough')).includes('home second edition'), {
      describe: 'served the second edition',
    });
    expect(await system.state('rough')).toMatchObject({ phase: 'live', lastError: null });

    const values = async (): Promise<string> => await readFile(system.valuesFile('rough'), 'utf8');
    const links = new Set<string>();
    await waitFor(
      async () => {
        links.add(await values());
        return links.size > 2;
      },
      { describe: 'refreshed the link twice' },
    );
  });

  scenario('is enough for agents too: a prompt leads to a pull request, or to none', async () => {
    const ended = async (site: string, phase: string): Promise<AgentChangeState> => {
      const answer = await system.publish(site, `{{ a page }} of ${site}`);
      const { deliveryId } = z.object({ deliveryId: z.string() }).parse(await answer.json());
      const handle = system.temporal.client.workflow.getHandle(WORKFLOW_IDS.agentChange(site, rule.name, deliveryId));
      return await waitFor(
        async () => {
          const state = await handle.query<unknown>(QUERIES.state).catch(() => undefined);
          const parsed = agentChangeState.safeParse(state);
          return parsed.success && parsed.data.phase === phase && parsed.data;
        },
        { describe: `came to ${phase}` },
      );
    };
    const state = await ended('prompted', 'in-review');
    const job = system.adminApi.agentJobs().find(({ projectId }) => projectId === 'prj/№ 1');
    expect(job?.prompt).toBe('Mention {{ a page }} of prompted.');
    expect(state).toMatchObject({ jobId: job?.id, prLink: job?.prLink, error: null });
    expect(await ended('unchanging', 'unchanged')).toMatchObject({ prLink: null, error: null });
    expect(system.adminApi.agentJobs()).toHaveLength(2);
  });

  scenario('gets at most 3 exports for 500 publishes in 5 s, and the last has the newest content', async () => {
    const { adminApi } = system;
    // A CMS sends again what the receiver had no time for, as on a busy machine.
    const accepted: Promise<true>[] = [];
    const statuses = new Set<number>();
    const startedAtMs = Date.now();
    for (let publish = 1; publish <= 500; publish += 1) {
      adminApi.edit('storm.example.test', `edition ${publish}`);
      const send = async (): Promise<boolean> => {
        const { status } = await system.publish('storm', `Entry ${publish}`);
        statuses.add(status);
        return status === 202;
      };
      accepted.push(waitFor(send, { describe: `accepted entry ${publish}` }));
      if (publish % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await Promise.all(accepted);
    expect([202, 503]).toEqual(expect.arrayContaining([...statuses]));
    const tookMs = Date.now() - startedAtMs;

    await waitFor(async () => (await system.served('storm')).includes('home edition 500'), {
      describe: 'served the newest content',
    });
    await waitFor(async () => (await system.state('storm')).phase === 'live', { describe: 'came to rest' });
    const exports = adminApi.exports('storm.example.test');
    // One at each end of the longest wait, and one for the rest: three where the machine took no longer than 5 s.
    expect(exports.length).toBeLessThanOrEqual(Math.max(3, 2 + Math.floor(tookMs / STORM_MAX_WAIT_MS)));
    expect(exports.at(-1)).toBe('edition 500');
  });
});
