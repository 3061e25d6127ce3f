import { runWorker } from '../../helpers/run-worker.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { type Browser, openBrowser } from '../../platform/dashboard/browser.ts';
import { OPERATOR_TOKEN } from '../running-api.ts';
import { type SitesFixture, startSites } from '../sites-fixture.ts';

describe('the list of sites', () => {
  let sites: SitesFixture;
  let worker: { stop(): Promise<void> };
  let browser: Browser;

  beforeAll(async () => {
    const site = { projectId: 'prj_docs', webhooks: { token: { secret: 'hush' } }, guards: { maxShrink: '20%' } };
    sites = await startSites({ docs: site, blog: { ...site, projectId: 'prj_blog' } });
    worker = runWorker(await sites.createWorker());
    browser = openBrowser(sites.api.url);
    await browser.submit('/ui/sign-in', '/ui/sign-in', { name: 'Ada', token: OPERATOR_TOKEN });
  });
  afterAll(async () => {
    await worker?.stop();
    await sites?.stop();
  });

  /** The text of a page, its parts separated by bars. */
  const shown = async (path = '/') =>
    (await browser.get(path)).text.replaceAll(/<[^>]+>/g, '|').replaceAll(/(\s*\|\s*)+/g, '|');
  /** The page once it matches: workflows that don't answer in time are shown later. */
  async function until(pattern: RegExp): Promise<string> {
    let text = '';
    async function matches(): Promise<boolean> {
      text = await shown();
      return pattern.test(text);
    }
    await waitFor(matches, { describe: `the list shows ${pattern}` });
    return text;
  }
  async function publish(title: string): Promise<void> {
    const headers = { authorization: 'Bearer hush', 'content-type': 'application/json' };
    const body = JSON.stringify({ title });
    expect((await fetch(`${sites.api.url}/webhooks/docs/token`, { method: 'POST', headers, body })).status).toBe(202);
  }

  it('says what is fresh, what needs a person, how long publishes took and how often exports failed', async () => {
    expect(await shown()).toContain('|Fresh|no publish waits to be served|Runs|nothing|Needs a person|nothing|');
    await publish('First');
    const live = await until(/\|docs\|docs\.example\.com\|Live\|/);
    expect(live).toContain('|Fresh|no publish waits to be served|Runs|nothing|Needs a person|nothing|');
    expect(live).toMatch(/\|no publish\|[\d.]+ m?s\|95 %: [\d.]+ m?s\|0 of 1\|since\|/);

    sites.adminApi.behaviour.pageCount = 1;
    sites.adminApi.behaviour.content += 1;
    await publish('Second');
    const held = await until(/\|Waiting for review\|[^<]*a guard holds it/);
    expect(held).toMatch(
      /\|Fresh\|1 of 2 sites behind\|Oldest not served\|docs\|.*\|Runs\|nothing\|Needs a person\|1 site\|/,
    );
    expect(held).toMatch(
      /\|Sites that need a person\|.*\|docs\|docs\.example\.com\|Waiting for review\|.*\|a guard holds it for approve or reject\|/,
    );
    expect(held).toMatch(/\|All other sites\|.*\|blog\|/);
    // The site's own page says the same.
    const figures = /\|([^|]+\|95 %: [^|]+)\|(\d+ of \d+)\|since/.exec(held) ?? [];
    const page = await shown('/ui/sites/docs');
    expect(page).toMatch(/\|Oldest not served\|[^|]+\|a guard holds it for approve or reject\|/);
    expect(page).toContain(`|From publish to served|${figures[1]}|Failed exports|${figures[2]}|since|`);
  });
});
