import { type Browser, chromium, type Page } from 'playwright-core';
import { STEP_TIMEOUT_MS } from '../../exporter/sites/visitor.ts';
import { OPERATOR_TOKEN } from '../../helpers/platform-api.ts';
import { locateRealTool } from '../../helpers/real-tool.ts';
import { BRANCH, type ForgeFixture, startForgeFixture } from './forge-fixture.ts';

describe('the page of a pull request in a browser', () => {
  let fixture: ForgeFixture;
  let browser: Browser;

  beforeAll(async () => {
    fixture = await startForgeFixture();
    const executablePath = await locateRealTool('chromium');
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await fixture?.stop();
  });

  async function proposal() {
    const repository = await fixture.createProject({ files: { 'README.md': '# Handbook\n', 'old.md': 'Old\n' } });
    const wide = `${'a-word-without-an-end-'.repeat(30)}\n`;
    const long = `${'folder-of-some-length/'.repeat(8)}file.md`;
    await repository.commit(BRANCH, { 'README.md': `# Ours\n${wide}`, [long]: 'New\n' }, wide.trim());
    const title = `<script>document.title = "run"</script> ${'unbroken'.repeat(20)}`;
    return { repository, opened: await fixture.open(repository, { title, body: wide }) };
  }

  /** Opens a page and collects console messages and errors, such as violations of the content security policy. */
  async function openPage(url: string, width: number): Promise<{ page: Page; messages: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 800 } });
    page.setDefaultTimeout(STEP_TIMEOUT_MS);
    const messages: string[] = [];
    page.on('console', (message) => messages.push(message.text()));
    page.on('pageerror', (error) => messages.push(String(error)));
    await page.goto(url);
    return { page, messages };
  }

  it.each([1280, 360])('fits a screen %i pixels wide with any content, and is styled', async (width) => {
    const { opened } = await proposal();
    const { page, messages } = await openPage(opened.url, width);
    const root = page.locator('html');
    expect(await root.evaluate((element) => element.scrollWidth)).toBeLessThanOrEqual(width);
    const badge = page.locator('.badge');
    expect(await badge.evaluate((element) => element.clientHeight)).toBeLessThan(60);
    expect(await badge.evaluate((element) => element.checkVisibility())).toBe(true);
    expect(await page.locator('.diff .d2h-ins').count()).toBeGreaterThan(1);
    expect(await page.title()).toMatch(/^<script>/);
    expect(messages).toEqual([]);
    await page.close();
  });

  it('lets a reviewer approve and merge through a link on another site', async () => {
    const { opened, repository } = await proposal();
    const { json } = await fixture.post(`${opened.url}/review_links`, { json: { reviewer: 'ada@example.com' } });
    const { page, messages } = await openPage('about:blank', 1280);
    // A webmail page.
    await page.route('https://mail.example.com/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<a href="${json.url}">Review the pull request</a>` }),
    );
    await page.goto('https://mail.example.com/');
    await page.getByRole('link', { name: 'Review the pull request' }).click();
    await page.getByText('You act as ada@example.com').waitFor();
    expect(page.url()).toBe(opened.url);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('ada@example.com approved').waitFor();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.locator('.badge', { hasText: 'Merged' }).waitFor();
    expect(await repository.git('show', 'main:README.md')).toMatch(/^# Ours/);
    expect(messages).toEqual([]);
    await page.close();
  });

  it('merges with its button, and shows an error for a wrong token', async () => {
    const { opened, repository } = await proposal();
    const { page } = await openPage(opened.url, 1280);
    const form = page.locator('form').filter({ hasText: 'Merge or close' });
    await form.getByLabel('Operator token').fill('wrong');
    await form.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText('The operator token is wrong').waitFor();
    await form.getByLabel('Operator token').fill(OPERATOR_TOKEN);
    await form.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.locator('.badge', { hasText: 'Merged' }).waitFor();
    expect(page.url()).toBe(opened.url);
    expect(await repository.git('show', 'main:README.md')).toMatch(/^# Ours/);
    await page.close();
  });
});
