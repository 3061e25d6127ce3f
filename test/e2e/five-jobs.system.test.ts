import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { createBareRepository } from '../../embedded/bare-repository.ts';
import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { launchChromium, openPage } from '../helpers/chromium.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';
import { type HttpSite, type SiteHandler, startHttpSite } from '../helpers/http-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { openBrowser } from '../platform/dashboard/browser.ts';
import { PASSWORD } from '../platform/dashboard/dashboard-fixture.ts';

const PHONE = { width: 390, height: 844 };
const folder = temporaryFolder();
const variables = {
  ...FREE_PORTS,
  GALLEY_HOME: join(folder, 'state'),
  OPERATOR_TOKEN: 'operator-token-of-this-test-1234567890',
};
const stops: (() => Promise<unknown>)[] = [];

let up: RunningGalley;
let site: HttpSite;
let mailbox: Mailbox;
let browser: Browser;

/** A site of one page with this heading. */
const shows =
  (heading: string): SiteHandler =>
  ({ url }, response) => {
    if (url !== '/') return void response.writeHead(404).end();
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Docs</title><h1>${heading}</h1>`);
  };

const run = async (...args: string[]) => expect(await galley(args, variables, folder)).toMatchObject({ code: 0 });
const publish = () => run('webhook', 'send', 'docs', 'standard');
const linkOf = (path: string): string => new RegExp(`http\\S+${path}\\?link=\\S+`).exec(up.output())?.[0] ?? 'no link';
const partOf = (name: string): string => new RegExp(` ${name} (\\S+)`).exec(up.ready)?.[1] ?? 'no URL';

/** A person at a browser, whose clicks count. */
async function person(options: Parameters<typeof openPage>[1] = {}): Promise<{
  page: Page;
  click: (target: Locator) => Promise<void>;
  clicks: () => number;
}> {
  const { page } = await openPage(browser, options);
  let count = 0;
  const click = async (target: Locator): Promise<void> => {
    count += 1;
    await target.click();
  };
  return { page, click, clicks: () => count };
}

/** At the sites page, signed in. */
async function operator(): Promise<Awaited<ReturnType<typeof person>>> {
  const someone = await person();
  const { path } = JSON.parse(
    await (
      await fetch(`${partOf('api')}/ui/sign-in/links`, {
        method: 'POST',
        headers: { authorization: `Bearer ${variables.OPERATOR_TOKEN}` },
      })
    ).text(),
  );
  await someone.page.goto(partOf('api') + path);
  await someone.page.getByLabel('Your name').fill('Ada');
  await someone.click(someone.page.getByRole('button', { name: 'Sign in' }));
  return someone;
}

beforeAll(async () => {
  const repository = await createBareRepository(join(folder, 'docs.git'), { 'CHANGELOG.md': 'old\n' });
  mailbox = await startMailbox();
  stops.push(mailbox.stop);
  site = await startHttpSite(shows('First edition'));
  stops.push(site.close);
  await writeFile(
    join(folder, 'galley.yaml'),
    `smtp: {url: "${mailbox.smtpUrl}", from: "Galley <galley@example.com>"}
forge: {kind: embedded}
sites:
  docs:
    domain: docs.example.com
    origin: ${site.origin}
    webhooks: {standard: {secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLjG2"}}
    export: {quietPeriod: 200ms, deployments: [{valuesFile: values.yaml}]}
    agent:
      - {name: notes, on: publish, prompt: "Replace 'old' with 'new' in CHANGELOG.md", reviewers: [grace@example.com], quietPeriod: 100ms}
`,
  );
  up = await startGalley(['up'], variables, folder);
  stops.push(() => up.stop('SIGKILL'));
  await run('projects', 'set', '--project', 'prj_docs', '--repository', repository.url, '--ref', 'main');
  browser = await launchChromium();
  stops.push(() => browser.close());
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

test('a writer sees when a page is live', async () => {
  const { page, click, clicks } = await operator();
  await click(page.getByRole('link', { name: 'docs', exact: true }).first());
  site.setHandler(shows('Second edition'));
  await publish();
  const newest = page.getByRole('table', { name: 'Exports' }).getByRole('row').nth(1);
  await newest.getByText('Served').waitFor();
  expect(await (await fetch(partOf('deployment'))).text()).toContain('Second edition');
  console.info(`A writer: ${clicks()} clicks`);
});

test('a docs engineer sets up a site', async () => {
  const { page, click, clicks } = await person();
  const go = (name: string) => click(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }));
  await page.goto(linkOf('/ui/setup'));
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Password').fill(PASSWORD);
  await click(page.getByRole('button', { name: 'Create the account' }));
  await go('Projects');
  await page.getByLabel('Domain').fill('blog.example.com');
  await click(page.getByRole('button', { name: 'Add project' }));
  const project = await page.getByLabel('Project id', { exact: true }).inputValue();
  // The operator's part: the site is on this machine.
  await run('projects', 'set', '--project', project, '--origin', site.origin);
  await click(page.getByRole('link', { name: 'Check the origin' }));
  await page.getByText('“Docs”').waitFor();
  await go('Exports');
  await page.getByLabel('Domain').last().selectOption('blog.example.com');
  await click(page.getByRole('button', { name: 'Start' }));
  await page.locator('.badge', { hasText: 'Completed' }).waitFor();
  await click(page.getByRole('button', { name: 'Preview' }));
  await page.getByRole('heading', { name: 'Second edition' }).waitFor();
  console.info(`A docs engineer: ${clicks()} clicks`);
});

test('an operator at night finds why a site is stale, and acts', async () => {
  site.setHandler((_request, response) => void response.writeHead(500).end());
  await publish();
  const { page, click, clicks } = await operator();
  await page.getByText(/500/).first().waitFor();
  await click(page.getByRole('link', { name: 'docs', exact: true }).first());
  await page.getByText(/500/).first().waitFor();
  site.setHandler(shows('Third edition'));
  await click(page.getByRole('button', { name: 'Export now' }));
  const newest = page.getByRole('table', { name: 'Exports' }).getByRole('row').nth(1);
  await newest.getByText('Served').waitFor();
  expect(await (await fetch(partOf('deployment'))).text()).toContain('Third edition');
  console.info(`An operator at night: ${clicks()} clicks`);
});

test('a reviewer approves on a phone', async () => {
  const mails = await waitFor(
    async () => {
      const received = await mailbox.mails();
      return received.length > 0 && received;
    },
    { describe: 'asked for a review' },
  );
  const [, link = ''] = /(\S+\/review\?key=\S+)/.exec(mails[0]?.text ?? '') ?? [];
  const { page, click, clicks } = await person({ viewport: PHONE, isMobile: true, hasTouch: true });
  await page.goto(link);
  await page.getByText('You act as grace@example.com').waitFor();
  await click(page.getByRole('button', { name: 'Approve' }));
  await page.locator('.badge', { hasText: 'approved' }).waitFor();
  await click(page.getByRole('button', { name: 'Merge' }));
  await page.locator('.badge', { hasText: 'Merged' }).waitFor();
  console.info(`A reviewer on a phone: ${clicks()} clicks`);
});

test("a security officer revokes a person's access, and proves it", async () => {
  const platform = partOf('platform');
  const { page, click, clicks } = await person();
  const go = (name: string) => click(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }));
  await page.goto(platform);
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await click(page.getByRole('button', { name: 'Sign in', exact: true }));

  // Bob joined, and made a key.
  const owner = openBrowser(platform);
  await owner.submit('/ui/sign-in', '/ui/sign-in', { email: 'ada@example.com', password: PASSWORD });
  const members = '/ui/settings/members';
  await owner.submit(members, members, { email: 'bob@example.com', role: 'developer' });
  const [, invitation = ''] = /(\/ui\/invitations\/[\w-]+)/.exec((await owner.get(members)).text) ?? [];
  const bob = openBrowser(platform);
  await bob.submit(invitation, invitation, { name: 'Bob', password: PASSWORD });
  const { location } = await bob.submit('/ui/settings/keys', '/ui/settings/keys', {
    name: 'CI',
    days: '',
    addresses: '',
  });
  const key = /galley_[\w-]{49}/.exec((await bob.get(location ?? '')).text)?.[0] ?? '';
  const useKey = () =>
    fetch(`${platform}/v1/static-export/jobs`, { headers: { authorization: `Bearer ${key}` } }).then((it) => it.status);
  expect([(await bob.get('/')).status, await useKey()]).toEqual([200, 200]);

  await go('Members');
  await click(page.getByRole('link', { name: 'Remove bob@example.com' }));
  await click(page.getByRole('checkbox', { name: /^Revoke CI/ }));
  await click(page.getByRole('button', { name: 'Remove the member' }));
  await page.getByText('The member was removed').waitFor();
  expect([(await bob.get('/')).status, await useKey()]).toEqual([403, 401]);

  await go('Audit log');
  const rows = page.getByRole('table').getByRole('row');
  await rows.filter({ hasText: 'bob@example.com' }).filter({ hasText: 'Removed a member' }).waitFor();
  await rows.filter({ hasText: 'Revoked a key' }).first().waitFor();
  console.info(`A security officer: ${clicks()} clicks`);
});
