import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  editionName,
  HOSTED_DOMAIN,
  type HostedApi,
  startDomainForm,
  startProjectForm,
} from '../helpers/admin-api/hosted-api.ts';
import { answerWith, holdAnswer, loseAnswer } from '../helpers/system/faults.ts';
import { createGate } from '../helpers/system/gate.ts';
import type { Interception } from '../helpers/system/intercepting-proxy.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { type HostedSystem, startHostedSystem } from '../helpers/system/seed-system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

type Form = {
  form: 'domain' | 'project';
  startApi(): Promise<HostedApi>;
  start: Interception;
  /** The read of a job that isn't known to be completed, and the request for a link. */
  read: Interception;
  link: Interception;
};

const SITE = 'docs';
const IS_START = { method: 'POST', path: /\/jobs$/ } as const;
const IS_READ = { method: 'GET', path: /\/jobs\/[^/]+$/ } as const;

const FORMS: Form[] = [
  {
    form: 'domain',
    startApi: startDomainForm,
    start: { ...IS_START, body: `"${HOSTED_DOMAIN}"` },
    read: IS_READ,
    link: { method: 'POST', path: /\/bundle$/ },
  },
  {
    form: 'project',
    startApi: startProjectForm,
    start: { ...IS_START, path: /\/prj_docs\/jobs$/ },
    read: IS_READ,
    link: IS_READ,
  },
];

const values = z.object({ staticExport: z.object({ bundleUrl: z.string() }) });

describe.each(FORMS)('a service that has form $form and no more', ({ form, startApi, start, read, link }) => {
  let system: HostedSystem<HostedApi>;
  let edition = 0;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startHostedSystem({
      sites: [
        {
          ...{ name: SITE, domain: HOSTED_DOMAIN, projectId: 'prj_docs' },
          export: { quietPeriod: '100ms', maxWait: '1s', refreshMargin: '90%' },
        },
      ],
      startApi,
      variables: { MIN_REFRESH_INTERVAL: '1s' },
    });
  });

  afterAll(() => system?.stop());

  /** Publishes the next edition, while `meanwhile` goes on, until it is served. Returns how many exports were started. */
  const startsOf = async (meanwhile: () => unknown = () => undefined): Promise<number> => {
    const before = system.adminApi.starts();
    system.adminApi.edit(++edition);
    await waitFor(async () => (await system.publish(SITE)).status === 202, { describe: 'accepted the publish' });
    await meanwhile();
    await system.untilServed(SITE, editionName(edition));
    await system.untilPhase(SITE, 'live');
    return system.adminApi.starts() - before;
  };

  /** Ends the worker while it waits for a response whose request has taken effect. */
  const killDuring = async (kind: Interception): Promise<number> => {
    const gate = createGate();
    system.proxy.intercept({ ...kind, times: 1 }, holdAnswer(gate));
    return await startsOf(async () => {
      await waitFor(() => gate.arrivals > 0, { describe: 'made the request' });
      await system.programs.kill('worker');
      gate.open();
      await system.programs.restart('worker');
    });
  };

  scenario('is found out, and a publish starts one export', async () => {
    expect(await startsOf()).toBe(1);
    expect(await system.state(SITE)).toMatchObject({ phase: 'live', lastError: null });
  });

  scenario('gets one more start if the response to a start is lost', async () => {
    system.proxy.intercept({ ...start, times: 1 }, loseAnswer());
    expect(await startsOf()).toBe(2);
  });

  scenario('gets one start although reads and links fail for a while', async () => {
    system.proxy.intercept({ ...read, times: 2 }, answerWith(503));
    system.proxy.intercept({ ...link, times: 1 }, answerWith(500));
    expect(await startsOf()).toBe(1);
  });

  scenario('gets at most one more start if the worker is killed while it starts', async () => {
    const starts = await killDuring(start);
    expect(starts).toBeGreaterThanOrEqual(1);
    expect(starts).toBeLessThanOrEqual(2);
  });

  scenario('gets one start if the worker is killed while it reads the job, or asks for a link', async () => {
    expect(await killDuring(read)).toBe(1);
    expect(await killDuring(link)).toBe(1);
  });

  scenario('gets one start if the receiver is killed after it accepted a publish', async () => {
    const killed = async (): Promise<void> => {
      await system.programs.kill('api');
      await system.programs.restart('api');
    };
    expect(await startsOf(killed)).toBe(1);
  });

  scenario('gives links that are renewed before they expire, also after the worker was killed', async () => {
    const linkNow = async (): Promise<string> =>
      values.parse(parse(await readFile(system.valuesFile(SITE), 'utf8'))).staticExport.bundleUrl;
    const renewed = async (): Promise<void> => {
      const before = await linkNow();
      await waitFor(async () => (await linkNow()) !== before, { describe: 'renewed the link' });
    };
    const starts = system.adminApi.starts();
    await renewed();
    await system.programs.kill('worker');
    await system.programs.restart('worker');
    await renewed();
    const response = await fetch(await linkNow());
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    expect(system.adminApi.starts()).toBe(starts);
    expect(await system.served(SITE)).toContain(editionName(edition));
    expect(await system.state(SITE)).toMatchObject({ phase: 'live', form });
  });
});
