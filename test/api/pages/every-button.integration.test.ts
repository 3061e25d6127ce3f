import { WORKFLOW_IDS } from '../../../contract/names.ts';
import { runWorker } from '../../helpers/run-worker.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { type Browser, formsOf, openBrowser } from '../../platform/dashboard/browser.ts';
import { type Buttons, watchButtons } from '../../platform/dashboard/buttons.ts';
import { OPERATOR_TOKEN } from '../running-api.ts';
import { type SitesFixture, startSites } from '../sites-fixture.ts';

const SITE = '/ui/sites/docs';

const ACTIONS = [
  ...['export', 'refresh', 'pause', 'resume', 'lock', 'unlock', 'approve', 'reject', 'rollback', 'remove', 'run-again'],
];
const ROUTES = [
  ...['GET /', 'POST /ui/sign-in', 'POST /ui/sign-out', 'POST /ui/changes/:workflowId/cancel'],
  ...ACTIONS.map((action) => `POST /ui/sites/:site/${action}`),
];

/** An agent that is never done. */
const JOB = {
  ...{ id: 'aj_1', projectId: 'prj_docs', status: 'active', prLink: null, model: 'a-model' },
  ...{ prompt: 'Go.', createdAt: new Date(0).toISOString() },
};

describe('every button of the sites page', () => {
  let sites: SitesFixture;
  let worker: { stop(): Promise<void> };
  let browser: Browser;
  let buttons: Buttons;

  beforeAll(async () => {
    sites = await startSites({
      docs: {
        ...{ projectId: 'prj_docs', webhooks: { token: { secret: 'hush' } }, guards: { maxShrink: '20%' } },
        agent: [{ name: 'changelog', on: 'publish', prompt: 'Go.', reviewers: [], quietPeriod: '100ms' }],
      },
    });
    sites.adminApi.behaviour.intercept = ({ path }) => {
      if (!path.startsWith('/v2/agent/')) return undefined;
      return { status: 200, body: JSON.stringify(path.endsWith('/cancel') ? { result: 'accepted', job: JOB } : JOB) };
    };
    worker = runWorker(await sites.createWorker());
    browser = openBrowser(sites.api.url);
    buttons = watchButtons(ROUTES);
  });
  afterAll(async () => {
    await worker?.stop();
    await sites?.stop();
  });

  async function press(page: string, label: string, fields: Record<string, string> = {}) {
    const { status, location, text } = await buttons.press(browser, page, label, fields);
    if (status >= 400) throw new Error(`${label} is ${status}: ${text.slice(0, 2_000)}`);
    return location ?? status;
  }
  const act = (action: string, page = SITE) => press(page, `POST /ui/sites/:site/${action}`);
  const until = (text: string | RegExp, page = SITE) =>
    waitFor(async () => (await buttons.look(browser, page)).match(text) !== null, { describe: `shows ${text}` });

  it('is pressed here', async () => {
    const signingIn = { name: 'Ada', token: OPERATOR_TOKEN };
    expect(await press('/ui/sign-in', 'POST /ui/sign-in', signingIn)).toBe('/');
    expect(await press('/', 'GET /', { search: 'docs' })).toBe(200);

    expect(await act('export')).toBe(`${SITE}?done=export`);
    await until('>Live<');
    const links = () => sites.adminApi.links('docs.example.com').length;
    const before = links();
    expect(await act('refresh')).toBe(`${SITE}?done=refresh`);
    expect(links()).toBeGreaterThan(before);
    expect(await act('pause')).toBe(`${SITE}?done=pause`);
    expect(await act('resume')).toBe(`${SITE}?done=resume`);
    const locking = { reason: 'A <b>release</b> tomorrow' };
    expect(await press(`${SITE}/lock`, 'POST /ui/sites/:site/lock', locking)).toBe(`${SITE}?done=lock`);
    await until(/Locked by .*Ada.*release.* tomorrow/s);
    expect(await act('unlock')).toBe(`${SITE}?done=unlock`);
    await until('>Live<');

    // A publish, for the site and for its agent rule: each can be run again.
    const headers = { authorization: 'Bearer hush', 'content-type': 'application/json' };
    const body = JSON.stringify({ title: 'A second page' });
    expect((await fetch(`${sites.api.url}/webhooks/docs/token`, { method: 'POST', headers, body })).status).toBe(202);
    await until('A second page');
    await until('>Live<');
    // From here on, the guard holds every export.
    sites.adminApi.behaviour.pageCount = 1;
    expect(await act('run-again')).toBe(`${SITE}?done=run-again`);
    await until('1 pages instead of 7');
    expect(await act('reject')).toBe(`${SITE}?done=reject`);
    await until('>Live<');
    await act('export');
    await until('1 pages instead of 7');
    expect(await act('approve')).toBe(`${SITE}?done=approve`);
    await until('>Live<');
    const rollback = /href="([^"]+rollback[^"]+)"/
      .exec(await buttons.look(browser, SITE))?.[1]
      ?.replaceAll('&amp;', '&');
    expect(await act('rollback', rollback)).toBe(`${SITE}?done=rollback`);

    const prefix = WORKFLOW_IDS.agentChange('docs', 'changelog', '');
    const changes = async () => {
      const found: string[] = [];
      const query = `WorkflowType = 'agentChange' AND ExecutionStatus = 'Running'`;
      for await (const { workflowId } of sites.client.workflow.list({ query })) found.push(workflowId);
      return found.filter((id) => id.startsWith(prefix));
    };
    await waitFor(async () => (await changes()).length > 0, { describe: 'started a change' });
    const [change = ''] = await changes();
    const page = `/ui/changes/${encodeURIComponent(change)}`;
    const action = `${page}/cancel`;
    const shown = formsOf((await browser.get(page)).text).find((each) => each.action === action);
    expect(await press(page, 'POST /ui/changes/:workflowId/cancel')).toBe(`${page}?done=cancel`);
    await waitFor(async () => !(await changes()).includes(change), { describe: 'canceled the change' });
    // The button of a page that is still open.
    const again = await browser.post(action, shown?.hidden ?? {});
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('The change has ended already')]);

    await buttons.look(browser, `${SITE}/rules/changelog`);
    expect(await act('remove', `${SITE}/remove`)).toBe('/?done=remove');
    expect(await press('/', 'POST /ui/sign-out')).toMatch(/^\/ui\/sign-in/);
    expect(buttons.unpressed()).toEqual([]);
  });
});
