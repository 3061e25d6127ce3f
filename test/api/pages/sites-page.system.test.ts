import { readFile } from 'node:fs/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium, openPage as openIn } from '../../helpers/chromium.ts';
import { runWorker } from '../../helpers/run-worker.ts';
import { OPERATOR_TOKEN } from '../running-api.ts';
import { type SitesFixture, startSites } from '../sites-fixture.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});

afterAll(() => browser?.close());

const openPage = (options: BrowserContextOptions = {}) => openIn(browser, options);

describe('an operator', () => {
  let sites: SitesFixture;
  let worker: { stop(): Promise<void> };

  beforeAll(async () => {
    const docs = { projectId: 'prj_docs', webhooks: { token: { secret: 'hush' } }, guards: { maxShrink: '20%' } };
    sites = await startSites({ docs }, { searchAttributes: true });
    worker = runWorker(await sites.createWorker());
  });

  afterAll(async () => {
    await worker?.stop();
    await sites?.stop();
  });

  async function signIn(page: Page): Promise<void> {
    await page.goto(`${sites.api.url}/ui/sites/docs`);
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Operator token').fill(OPERATOR_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${sites.api.url}/ui/sites/docs`);
  }

  const phase = (page: Page) => page.locator('.title-line .badge').first();

  it('signs in, exports and sees the site go live without a reload', async () => {
    const { page, errors } = await openPage();
    await signIn(page);
    expect(await phase(page).textContent()).toBe('Not published');
    await page.evaluate('globalThis.notReloaded = false');
    await page.getByRole('button', { name: 'Export now' }).click();
    await page.getByText('An export was requested.').waitFor();
    await page.evaluate('globalThis.notReloaded = true');
    await page.locator('.badge', { hasText: 'Live' }).first().waitFor();
    await page
      .locator('dd', { hasText: /ago|just now/ })
      .first()
      .waitFor();
    expect(await page.evaluate('globalThis.notReloaded')).toBe(true);
    expect(await page.evaluate('document.documentElement.dataset.live')).toBe('on');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('pauses and resumes, also without scripts', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await openPage({ javaScriptEnabled });
      await signIn(page);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('The site is paused.').waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByText('no longer paused').waitFor();
      expect(await phase(page).textContent()).toBe('Live');
      await page.context().close();
    }
  });

  it('sees a row of the list change without a reload', async () => {
    const { page, errors } = await openPage();
    await signIn(page);
    await page.goto(`${sites.api.url}/`);
    await page.getByRole('row', { name: /docs.*Live/ }).waitFor();
    await page.evaluate('globalThis.notReloaded = true');
    const steer = (action: string) =>
      fetch(`${sites.api.url}/sites/docs/${action}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
      });
    expect((await steer('pause')).status).toBe(200);
    const waiting = page.getByRole('table', { name: 'Sites that need a person' });
    await waiting.getByRole('row', { name: /docs.*Paused/ }).waitFor();
    expect((await steer('resume')).status).toBe(200);
    await page.getByRole('row', { name: /docs.*Live/ }).waitFor();
    expect(await page.evaluate('globalThis.notReloaded')).toBe(true);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('sees a publish arrive and go live without a reload, and rolls it back', async () => {
    const { page, errors } = await openPage();
    await signIn(page);
    const [first] = sites.adminApi.jobs;
    sites.adminApi.behaviour.content += 1;
    const delivery = JSON.stringify({ event: 'publish', title: 'A second page' });
    const headers = { authorization: 'Bearer hush', 'content-type': 'application/json' };
    const accepted = await fetch(`${sites.api.url}/webhooks/docs/token`, { method: 'POST', headers, body: delivery });
    expect(accepted.status).toBe(202);
    const rollBack = page.getByRole('link', { name: `Roll back to ${first?.version}` });
    await rollBack.waitFor();
    await page.getByText('A second page').first().waitFor();
    await rollBack.click();
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('The site goes back to the earlier version.').waitFor();
    expect(await readFile(sites.valuesFile('docs'), 'utf8')).toContain(String(first?.jobId));
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('rejects and approves exports that a guard holds', async () => {
    const { page, errors } = await openPage();
    await signIn(page);
    sites.adminApi.behaviour.pageCount = 1;
    for (const { button, message } of [
      { button: 'Reject', message: 'The version was rejected.' },
      { button: 'Approve', message: 'The version was approved.' },
    ]) {
      await page.getByRole('button', { name: 'Export now' }).click();
      await page.getByText('1 pages instead of 7').waitFor();
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByText(message).waitFor();
      expect(await phase(page).textContent()).toBe('Live');
    }
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('removes a site after being asked, and signs out', async () => {
    const { page } = await openPage();
    await signIn(page);
    await page.getByRole('link', { name: 'Remove' }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove the site' }).click();
    await page.getByText('The site was removed').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
    await page.goto(`${sites.api.url}/`);
    await page.getByLabel('Operator token').waitFor();
    await page.context().close();
  });
});
