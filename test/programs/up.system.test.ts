import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { addAuthenticator, launchChromium, openPage } from '../helpers/chromium.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { openBrowser } from '../platform/dashboard/browser.ts';

let folder: string;
let home: string;
let variables: Record<string, string>;
const running: RunningGalley[] = [];

async function up(more: Record<string, string> = {}): Promise<RunningGalley> {
  const started = await startGalley(['up'], { ...variables, ...more }, folder);
  running.push(started);
  return started;
}

/** The URL of a part, from the `ready` line. */
function address({ ready }: RunningGalley, part: string): string {
  return new RegExp(` ${part} (\\S+)`).exec(ready)?.[1] ?? `no ${part} in: ${ready}`;
}

/** The same as links to pages have it. */
const pageOf = (started: RunningGalley, part: string) => address(started, part).replace('127.0.0.1', 'localhost');

/** The processes of this machine whose command line contains the folder, as Temporal's does with its database file. */
async function processesOfHome(): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir('/proc')) {
    const command = /^\d+$/.test(entry) ? await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '') : '';
    if (command.includes(home)) found.push(command);
  }
  return found;
}

describe('galley up', () => {
  let first: RunningGalley;
  let mailbox: Mailbox;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-up-'));
    home = join(folder, 'state');
    variables = { ...FREE_PORTS, GALLEY_HOME: home };
    mailbox = await startMailbox();
    await writeFile(
      join(folder, 'galley.yaml'),
      `smtp: {url: "${mailbox.smtpUrl}", from: "Galley <galley@example.com>"}\n` +
        'sites:\n  handbook:\n    domain: docs.example.com\n    export: {deployments: [{valuesFile: values.yaml}]}\n' +
        '  drafts:\n    domain: drafts.example.com\n    export: {deployments: [{valuesFile: drafts.yaml}]}\n',
    );
    await writeFile(join(folder, 'drafts.yaml'), 'staticExport: {enabled: perhaps}\n');
    first = await up();
  });

  afterAll(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
    await mailbox?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test.each([
    ['platform', '/healthz'],
    ['api', '/readyz'],
    ['deployment', '/-/status'],
    ['ui', '/'],
  ])('responds at the URL of its %s', async (part, path) => {
    // The readiness check has a short deadline, which a busy machine may miss.
    await waitFor(async () => (await fetch(`${address(first, part)}${path}`)).status === 200, { describe: 'answered' });
  });

  test('answers foreign hosts, as DNS rebinding makes browsers name them, only on what is public', async () => {
    const statusOf = async (part: string, path: string, host: string) =>
      await new Promise((resolve, reject) => {
        const request = get(address(first, part) + path, { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        request.on('error', reject);
      });
    const workflows = '/api/v1/namespaces/default/workflows';
    for (const [part, path] of [
      ['ui', '/'],
      ['ui', workflows],
      ['platform', '/metrics'],
      ['platform', '/docs/'],
      ['api', '/metrics'],
    ] as const) {
      expect([path, await statusOf(part, path, 'evil.example')]).toEqual([path, 403]);
      expect([path, await statusOf(part, path, 'localhost')]).toEqual([path, 200]);
    }
    expect(await statusOf('api', '/healthz', 'hooks.example.com')).toBe(200);
    expect(await statusOf('deployment', '/-/status', 'docs.example.com')).toBe(200);
  });

  test('starts with an invalid values file, reports the error, and follows the corrected file', async () => {
    const drafts = / deployment \S+ deployment (\S+)/.exec(first.ready)?.[1] ?? '';
    const lastError = async () => JSON.parse(await (await fetch(`${drafts}/-/status`)).text()).lastError;
    const wrong = expect.stringContaining('drafts.yaml: staticExport.enabled: expected true or false');
    await waitFor(async () => (await lastError()) !== null, { describe: 'reported the error' });
    expect(await lastError()).toMatchObject({ message: wrong });
    expect(first.output()).toMatch(/drafts\.yaml: staticExport\.enabled: expected true or false/);
    expect((await fetch(drafts)).status).toBe(503);
    await writeFile(join(folder, 'drafts.yaml'), 'staticExport: {enabled: false}\n');
    await waitFor(async () => (await lastError()) === null, { describe: 'followed the corrected file' });
  });

  test('keeps its secrets and addresses readable by its user only', async () => {
    for (const name of ['operator-token', 'admin-api-key', 'unsubscribe-secret', 'up.json'])
      expect({ name, mode: (await stat(join(home, name))).mode & 0o077 }).toEqual({ name, mode: 0 });
  });

  test('creates a project for each site of galley.yaml, and shows the state of the sites', async () => {
    const { stdout } = await galley(['projects', 'list', '--organization', 'galley'], variables, folder);
    expect(stdout).toMatch(/^prj_handbook +galley +docs\.example\.com/m);
    const status = await galley(['sites', 'status', 'handbook'], variables, folder);
    expect({ code: status.code, stdout: status.stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^handbook: not published\n {2}deployments\n {4}\S*values\.yaml: waiting, http:/),
    });
    const token = (await readFile(join(home, 'operator-token'), 'utf8')).trim();
    const site = `${address(first, 'api')}/sites/handbook`;
    expect((await fetch(site)).status).toBe(401);
    expect((await fetch(site, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  });

  test('allows managing keys and projects while it runs', async () => {
    const created = await galley(['keys', 'create', '--organization', 'acme', '--json'], variables, folder);
    expect(created.stderr).toBe('');
    expect(JSON.parse(created.stdout)).toEqual({
      id: expect.stringMatching(/./),
      key: expect.stringMatching(/^galley_/),
      organization: 'acme',
    });
    const { id, key } = JSON.parse(created.stdout);
    const project = ['--project', 'prj_docs', '--domain', 'guide.example.com', '--origin', 'http://127.0.0.1:8080'];
    const added = await galley(['projects', 'add', '--organization', 'acme', ...project, '--json'], variables, folder);
    expect(JSON.parse(added.stdout)).toMatchObject({ project: 'prj_docs', origin: 'http://127.0.0.1:8080' });
    const refused = await galley(['projects', 'set', '--project', 'prj_none', '--ref', 'main'], variables, folder);
    expect({ code: refused.code, stderr: refused.stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^galley: .*There is no project prj_none/),
    });
    const wrong = await galley(['projects', 'set', '--project', 'prj_docs', '--origin', 'nowhere'], variables, folder);
    expect({ code: wrong.code, stderr: wrong.stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/origin/) });

    const extra = ['projects', 'add', '--organization', 'acme', '--project', 'prj_extra', '--domain', 'x.example.com'];
    expect((await galley(extra, variables, folder)).code).toBe(0);
    const removed = await galley(['projects', 'remove', 'prj_extra', '--json'], variables, folder);
    expect(JSON.parse(removed.stdout)).toMatchObject({ project: 'prj_extra' });
    expect(await galley(['projects', 'remove', 'prj_extra'], variables, folder)).toMatchObject({ code: 1 });

    const jobs = `${address(first, 'platform')}/v1/static-export/jobs`;
    expect((await fetch(jobs, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    expect((await galley(['keys', 'revoke', id], variables, folder)).code).toBe(0);
    expect((await fetch(jobs, { headers: { authorization: `Bearer ${key}` } })).status).toBe(401);
  });

  test("leads from one page to the other, and mails invitations and links for new passwords through galley.yaml's mail server", async () => {
    const platform = address(first, 'platform');
    const password = 'correct horse battery';
    const newest = async (to: string, subject: RegExp) => {
      const found = async () =>
        (await mailbox.mails()).find((mail) => subject.test(mail.subject) && mail.envelope.to[0]?.address === to);
      await waitFor(async () => (await found()) !== undefined, { describe: `mailed ${to}` });
      const mail = await found();
      return {
        from: mail?.from,
        path: new RegExp(`${pageOf(first, 'platform')}(/\\S+)`).exec(mail?.text ?? '')?.[1] ?? 'no link',
      };
    };

    const operator = openBrowser(address(first, 'api'));
    const signIn = new RegExp(`${pageOf(first, 'api')}(/ui/sign-in\\S+)`).exec(first.output())?.[1] ?? 'no link';
    expect((await operator.submit(signIn, '/ui/sign-in', { name: 'Ada' })).location).toBe('/');
    const pathIn = (part: string, url: string | null) => url?.replace(pageOf(first, part), '') ?? 'no URL';
    const toDashboard = async () => pathIn('platform', (await operator.get('/ui/open-dashboard')).location);
    // Nobody has an account yet.
    expect((await openBrowser(platform).get(await toDashboard())).location).toContain('/ui/setup?link=');

    const owner = openBrowser(platform);
    const setUp = new RegExp(`${pageOf(first, 'platform')}(/ui/setup\\S+)`).exec(first.output())?.[1] ?? 'no link';
    const fields = { organization: 'Handbook', email: 'ada@example.com', name: 'Ada', password };
    expect((await owner.submit(setUp, '/ui/setup', fields)).location).toBe('/?done=welcome');
    // Either page signs in to the other once, by a link.
    const other = openBrowser(platform);
    expect((await other.submit(await toDashboard(), '/ui/sign-in/link')).location).toBe('/');
    expect((await other.get('/')).status).toBe(200);
    const toSites = pathIn('api', (await owner.get('/ui/open-sites?to=/ui/sites/handbook')).location);
    const second = openBrowser(address(first, 'api'));
    expect((await second.get(toSites)).text).toContain('value="Ada"');
    expect((await second.submit(toSites, '/ui/sign-in', { name: 'Ada' })).location).toBe('/ui/sites/handbook');

    const members = '/ui/settings/members';
    const invited = await owner.submit(members, members, { email: 'bob@example.com', role: 'reviewer' });
    expect(invited.location).toBe(`${members}?done=invited-by-mail`);

    const invitation = await newest('bob@example.com', /./);
    expect(invitation.from).toEqual([{ address: 'galley@example.com', name: 'Galley' }]);
    const bob = openBrowser(platform);
    const joined = await bob.submit(invitation.path, invitation.path, { name: 'Bob', password });
    expect(joined.location).toBe('/?done=welcome');

    await openBrowser(platform).submit('/ui/forgot', '/ui/forgot', { email: 'ada@example.com' });
    const { path } = await newest('ada@example.com', /password/i);
    const reset = await openBrowser(platform).submit(path, '/ui/reset', { password: 'another correct horse' });
    expect(reset.location).toBe('/ui/sign-in?reason=reset');
  });

  test('lets a browser keep a passkey at the printed URL, and sign in with it', async () => {
    const url = /(http:\/\/\S+)\/ui\/setup/.exec(first.output())?.[1] ?? 'no link';
    const browser = await launchChromium();
    const { page, errors } = await openPage(browser);
    await addAuthenticator(page);
    await page.goto(`${url}/ui/account`);
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password').fill('another correct horse');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('link', { name: /^Remove/ }).waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(`${url}/`);
    expect(errors).toEqual([]);
    await browser.close();
  });

  test('is the only one on its GALLEY_HOME: a second one reports the first process', async () => {
    const { code, stderr } = await galley(['up'], variables, folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^galley: ${home} is in use by process ${first.process.pid} since .*GALLEY_HOME.*\\n$`),
    );
    expect((await fetch(`${address(first, 'api')}/healthz`)).status).toBe(200);
  });

  // Within 15 s, which lifetime.test.ts shows with a fake clock.
  test('ends at Ctrl-C with 0 and leaves no child', async () => {
    expect((await processesOfHome()).length).toBeGreaterThan(0);
    expect((await first.stop('SIGINT')).code).toBe(0);
    expect(await processesOfHome()).toEqual([]);
    await expect(fetch(address(first, 'platform'))).rejects.toThrow();
  });

  test('allows managing keys and projects in the embedded database while it does not run', async () => {
    const { stdout } = await galley(['projects', 'list', '--json'], variables, folder);
    expect(JSON.parse(stdout)).toHaveLength(3);
  });

  test('leaves no child after SIGKILL, and restarts with its state and a new token', async () => {
    const second = await up();
    await second.stop('SIGKILL');
    await waitFor(async () => (await processesOfHome()).length === 0, { describe: 'left no child' });
    const third = await up({ OPERATOR_TOKEN: 'chosen-by-the-operator' });
    await waitFor(async () => (await fetch(`${address(third, 'api')}/readyz`)).status === 200, {
      describe: 'was ready again',
    });
    // Other commands find the new token without the variable.
    const { stdout } = await galley(['projects', 'list', '--json'], variables, folder);
    expect(JSON.parse(stdout)).toHaveLength(3);
  });
});
