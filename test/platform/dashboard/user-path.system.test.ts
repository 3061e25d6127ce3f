import type { Browser, Page } from 'playwright-core';
import { setProject } from '../../../platform/admin/projects.ts';
import { createSetupUrl } from '../../../platform/dashboard/first-administrator.ts';
import { createExportWorkflows } from '../../../platform/export-workflows.ts';
import { launchChromium, openPage, problemsOf } from '../../helpers/chromium.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { page as html, type OriginSite, startOriginSite } from '../../helpers/system/origin-site.ts';
import { createDatabase } from '../../helpers/test-database.ts';
import { PASSWORD } from './dashboard-fixture.ts';

const PAGES = Array.from({ length: 12 }, (_each, index) => `/guides/page-${index}`);
/** Hundreds of pages would be slow to look at; a held one keeps the export under way. */
const HELD = '/guides/held';

describe('a person who uses the dashboard', () => {
  let rig: ExportRig;
  let origin: OriginSite;
  let platform: TestPlatform;
  let browser: Browser;

  beforeAll(async () => {
    const database = await createDatabase();
    rig = await startExportRig(database);
    await rig.startWorker();
    const workflows = createExportWorkflows({ client: rig.temporal.client });
    const { objects } = rig;
    platform = await startTestPlatform(database, {
      ...{ objects, startExport: workflows.start, cancelExport: workflows.cancel },
    });
    origin = await startOriginSite({
      '/': html('Welcome to the handbook', [...PAGES, HELD, '/missing']),
      ...Object.fromEntries(PAGES.map((path) => [path, html(`This is ${path}`)])),
      [HELD]: html('Held'),
    });
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await origin?.close();
    await platform?.stop();
    await rig?.stop();
  });

  const at = (page: Page, path: string) => page.waitForURL(new RegExp(`^${platform.baseUrl}${path}(\\?|$)`));
  const ask = (key: string) =>
    fetch(`${platform.baseUrl}/v1/static-export/jobs`, { headers: { authorization: `Bearer ${key}` } });

  it('signs up, adds a project and a key, exports twice, sees what changed, revokes the key and signs out', async () => {
    const { page, errors } = await openPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
    const problems: string[] = [];
    const look = async (name: string) => void problems.push(...(await problemsOf(page, name)));
    const go = (label: string) =>
      page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: label }).click();

    // The one-time link makes the first account.
    await page.goto(String(await createSetupUrl(platform.db, platform.baseUrl)));
    await look('setup');
    await page.getByLabel('Organization').fill('Handbook');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByText('Welcome.').waitFor();
    await look('overview-empty');

    await go('Projects');
    await page.getByLabel('Domain').fill('docs.example.com');
    await page.getByRole('button', { name: 'Add project' }).click();
    await page.getByText('The project was added.').waitFor();
    await at(page, '/ui/projects/prj_[0-9a-f]{16}');
    const project = await page.getByLabel('Project id', { exact: true }).inputValue();
    // The operator's part: the site is on this machine.
    await setProject(platform.db, { project, origin: origin.origin });
    await page.getByRole('link', { name: 'Check the origin' }).click();
    await page.getByText('“Handbook”, 14 links').waitFor();
    await look('project');

    await go('API keys');
    await page.getByLabel('Name').fill('CI');
    await page.getByLabel('Expires after days').fill('30');
    await page.getByLabel('Addresses').fill('127.0.0.0/8, ::1');
    await page.getByRole('button', { name: 'Create key' }).click();
    const field = page.getByLabel('Admin API key', { exact: true });
    const key = await field.inputValue();
    await page.getByRole('button', { name: 'Copy: Admin API key' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    await look('key-created');
    await go('API keys');
    expect(await page.getByText(key).count()).toBe(0);
    const row = page.getByRole('row', { name: /CI/ });
    await row.getByText('never').waitFor();
    expect((await ask(key)).status).toBe(200);
    await page.reload();
    await row
      .getByText(/just now|s ago/)
      .nth(1)
      .waitFor();
    await look('keys');

    // An export whose progress moves on the page, without a reload.
    await go('Exports');
    await look('exports-empty');
    const gate = origin.hold(HELD);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('The export was started.').waitFor();
    const firstUrl = page.url();
    await page.evaluate('globalThis.loadedOnce = true');
    await page.locator('.badge', { hasText: 'Running' }).waitFor();
    await page
      .locator('dd', { hasText: /^1[34]$/ })
      .first()
      .waitFor();
    expect(await page.evaluate('document.documentElement.dataset.live')).toBe('on');
    const before = Number(await page.locator('progress').getAttribute('value'));
    expect(before).toBeLessThan(100);
    await look('export-running');
    gate.open();
    await page.locator('.badge', { hasText: 'Completed' }).waitFor();
    await page.getByText('This is the first export of these pages').waitFor();
    expect(await page.evaluate('globalThis.loadedOnce')).toBe(true);
    await page.locator('dd', { hasText: 'by ada@example.com' }).waitFor();
    for (const stage of ['Wait for a worker', 'Crawl', 'Rewrite and pack'])
      await page
        .getByRole('listitem')
        .filter({ hasText: stage })
        .getByText(/\d (ms|s|min)/)
        .waitFor();
    expect(Number(await page.locator('progress').getAttribute('value'))).toBe(100);
    await page.locator('time[data-countdown]', { hasText: /^5\d min \d+ s$/ }).waitFor();

    // An edit of the origin, and what it changed.
    origin.put(PAGES[3] ?? '', html('This page was rewritten'));
    origin.put('/guides/new', html('A new page'));
    origin.put('/', html('Welcome to the handbook', [...PAGES, HELD, '/missing', '/guides/new', '/also-missing']));
    await page.getByRole('button', { name: 'Export again' }).click();
    await page.getByText('The export was started.').waitFor();
    expect(page.url()).not.toBe(firstUrl);
    await page.locator('.badge', { hasText: 'Completed' }).waitFor();
    await page.getByText('guides/new.html').first().waitFor();
    await page.getByText('also-missing').first().waitFor();
    await look('export-completed');
    await page.getByRole('link', { name: 'guides/page-3.html' }).click();
    await page.getByText('This page was rewritten').waitFor();
    expect(await page.locator('.d2h-del, .d2h-ins').allTextContents()).toEqual([
      expect.stringContaining('This is /guides/page-3'),
      expect.stringContaining('This page was rewritten'),
    ]);
    await look('page-changed');
    await go('Overview');
    await look('overview');

    await go('API keys');
    await page.getByRole('link', { name: 'Revoke CI' }).click();
    await look('revoke-key');
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('The key was revoked.').waitFor();
    expect((await ask(key)).status).toBe(401);
    await go('Audit log');
    for (const action of ['Joined', 'Created a key', 'Started an export', 'Revoked a key', 'Added a project']) {
      await page.getByText(action).first().waitFor();
    }
    await look('audit');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await look('sign-in');
    await page.goto(`${platform.baseUrl}/ui/settings/keys`);
    await at(page, '/ui/sign-in');

    expect(problems).toEqual([]);
    expect(errors).toEqual([]);
    await page.context().close();
  });
});
