import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { agentRuleState } from '../../contract/agent-state.ts';
import { QUERIES, SIGNALS, WORKFLOW_IDS } from '../../contract/names.ts';
import { siteState } from '../../contract/site-state.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { OPERATOR_TOKEN, type RunningApi, startApi } from './running-api.ts';
import { type SitesFixture, startSites } from './sites-fixture.ts';
import { signGithub } from './sources/vendors/github.ts';

const SECRET = 'hush';

let sites: SitesFixture;
/** With the galley.yaml in which `handbook` is called `guide`. */
let renamedApi: RunningApi;
let worker: { stop(): Promise<void> };

beforeAll(async () => {
  const agent = [{ name: 'changelog', on: 'publish', prompt: 'Go.', reviewers: [], quietPeriod: '1h' }];
  const webhooks = { token: { secret: SECRET }, github: { secret: SECRET } };
  sites = await startSites({ handbook: { webhooks, projectId: 'prj_docs', agent }, other: { webhooks } });
  worker = runWorker(await sites.createWorker());
});

afterAll(async () => {
  await worker.stop();
  await renamedApi?.stop();
  await sites.stop();
});

async function send(api: RunningApi, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, ...(body && { 'content-type': 'application/json' }) };
  const response = await fetch(`${api.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
}

const rename = (from: string, to: unknown, api = renamedApi) => send(api, 'POST', `/sites/${from}/rename`, { to });

async function publishTo(api: RunningApi, site: string, id: string) {
  const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ id, title: id });
  const response = await fetch(`${api.url}/webhooks/${site}/token`, { method: 'POST', headers, body });
  return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
}

async function untilLive(api: RunningApi, site: string, exports: number) {
  const live = async () => {
    const state = siteState.parse((await send(api, 'GET', `/sites/${site}`)).body);
    return state.exports.length === exports && state.exports[0]?.outcome === 'written' && state;
  };
  return await waitFor(live, { describe: `${site} has ${exports} exports` });
}

describe('a rename', () => {
  it('is refused until galley.yaml has the new name, and only that', async () => {
    expect(await publishTo(sites.api, 'handbook', 'first')).toMatchObject({ status: 202 });
    await untilLive(sites.api, 'handbook', 1);
    const stillThere = { status: 409, body: { error: expect.stringContaining('still has handbook') } };
    expect(await rename('handbook', 'guide', sites.api)).toMatchObject(stillThere);

    const { handbook, ...others } = sites.config.sites;
    if (handbook === undefined) throw new Error('The configuration has no handbook');
    const config = { ...sites.config, sites: { ...others, guide: handbook } };
    renamedApi = await startApi({ client: sites.client, config });
    Object.assign(sites.config.sites, { guide: handbook });
    delete sites.config.sites.handbook;

    const unknown = { status: 409, body: { error: expect.stringContaining('has no site manual') } };
    expect(await rename('handbook', 'manual')).toMatchObject(unknown);
    expect(await rename('unknown', 'guide')).toMatchObject({ status: 404, body: { error: 'no site unknown runs' } });
    for (const to of ['', "a'b", 1, undefined]) expect((await rename('handbook', to)).status).toBe(400);
    expect((await publishTo(renamedApi, 'handbook', 'too early')).status).toBe(404);
  });

  it('moves the site, ends its rules, keeps who unsubscribed, and may be repeated', async () => {
    const oldRule = sites.client.workflow.getHandle(WORKFLOW_IDS.agentRule('handbook', 'changelog'));
    await waitFor(async () => (await oldRule.describe()) !== undefined, { describe: 'the rule runs' });
    const address = 'ada@example.com';
    await oldRule.signal(SIGNALS.unsubscribed, { address });
    const done = await rename('handbook', 'guide');
    expect(done).toMatchObject({ status: 200, body: { site: 'guide', phase: 'live' } });
    expect(siteState.parse(done.body).actions[0]).toMatchObject({ action: 'rename', detail: 'handbook to guide' });
    const ruleState = async (site: string) => {
      const rule = sites.client.workflow.getHandle(WORKFLOW_IDS.agentRule(site, 'changelog'));
      return agentRuleState.parse(await rule.query<unknown>(QUERIES.state));
    };
    expect(await ruleState('handbook')).toMatchObject({ pendingCount: 0 });
    expect((await ruleState('guide')).unsubscribed).toEqual([address]);
    expect(await rename('handbook', 'guide')).toMatchObject({ status: 200, body: { site: 'guide' } });
    expect((await send(renamedApi, 'GET', '/sites/handbook')).status).toBe(404);
    const { sites: listed } = (await send(renamedApi, 'GET', '/sites')).body;
    expect(listed).toMatchObject([{ site: 'guide', phase: 'live' }, { site: 'other' }]);
  });

  it('leaves webhooks of the old name valid: they reach the new one, and the changes that began before', async () => {
    const accepted = await waitFor(
      async () => {
        const response = await publishTo(renamedApi, 'handbook', 'second');
        return response.status === 202 && response;
      },
      { describe: 'the old name is listed' },
    );
    expect(accepted.body).toMatchObject({ accepted: ['export:guide', 'agent-rule:guide:changelog'] });
    const { deliveries, deployments } = await untilLive(renamedApi, 'guide', 2);
    expect(deliveries.map(({ title }) => title)).toEqual(['second', 'first']);
    expect(deployments).toMatchObject([{ error: null }]);
    const note = JSON.parse(await readFile(`${sites.valuesFile('handbook')}.galley.json`, 'utf8'));
    expect(note).toMatchObject({ site: 'guide' });
    expect((await publishTo(renamedApi, 'unknown', 'x')).status).toBe(404);

    const [url, change] = ['https://github.com/acme/docs/pull/1', 'agent:handbook:changelog:d1'];
    await sites.client.workflow.start('agentChange', {
      ...{ workflowId: change, taskQueue: 'without-workers', args: [], memo: { prLink: url } },
    });
    const isListed = async () => (await sites.client.workflow.count(`WorkflowId = '${change}'`)).count > 0;
    await waitFor(isListed, { describe: 'listed the change' });
    const text = JSON.stringify({
      action: 'closed',
      pull_request: { html_url: url, state: 'closed', merged: true, merge_commit_sha: 'c1', user: { login: 'bot' } },
    });
    const headers = await signGithub({ secret: SECRET, body: text, path: '', at: new Date() }, 'pull_request');
    for (const name of ['guide', 'handbook']) {
      const response = await fetch(`${renamedApi.url}/webhooks/${name}/github`, {
        ...{ method: 'POST', body: text },
        headers: { ...headers, 'x-github-delivery': `merged-${name}` },
      });
      expect(await response.json()).toMatchObject({ accepted: [change] });
    }
  });

  it('to a site that runs is refused', async () => {
    expect(await publishTo(renamedApi, 'other', 'other')).toMatchObject({ status: 202 });
    await untilLive(renamedApi, 'other', 1);
    const started = await sites.client.workflow.start('exportSite', {
      ...{ workflowId: 'export:leftover', taskQueue: 'galley-orchestrator', args: [{ site: 'leftover' }] },
    });
    const refused = { status: 409, body: { error: expect.stringContaining('other runs already') } };
    expect(await rename('leftover', 'other')).toMatchObject(refused);
    expect((await started.describe()).status.name).toBe('RUNNING');
    await started.terminate();
  });

  it('frees the old name: a new site can have it', async () => {
    const { other, guide } = sites.config.sites;
    if (other === undefined || guide === undefined) throw new Error('The configuration lacks a site');
    const api = await startApi({
      client: sites.client,
      config: { ...sites.config, sites: { handbook: other, guide } },
    });
    const accepted = { status: 202, body: { accepted: ['export:handbook'] } };
    expect(await publishTo(api, 'handbook', 'a new site')).toMatchObject(accepted);
    const started = async () => {
      const { deliveries } = siteState.parse((await send(api, 'GET', '/sites/handbook')).body);
      return deliveries.some(({ outcome }) => outcome === 'started') && deliveries;
    };
    expect(await waitFor(started, { describe: 'the new site has it' })).toHaveLength(1);
    await api.stop();
    await sites.client.workflow.getHandle('export:handbook').terminate();
  });
});
