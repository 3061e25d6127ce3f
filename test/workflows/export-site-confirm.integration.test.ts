import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const operators = ['ada@example.com'];
let mailbox: Mailbox | undefined;

beforeAll(async () => {
  mailbox = await startMailbox();
});
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await mailbox?.stop();
});

const { startSite } = useSites('dev-server', () => ({
  smtp: { url: mailbox?.smtpUrl ?? '', from: 'Galley <galley@example.com>' },
  operators,
}));

/** The status endpoint of a deployment that reports the version in `serving`. */
async function startStatus() {
  const authorizations: (string | undefined)[] = [];
  const serving: { version: string | null } = { version: null };
  const site = await startHttpSite((request, response) => {
    authorizations.push(request.headers.authorization);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ state: 'serving', version: serving.version }));
  });
  closing.push(site.close);
  return { ...site, serving, authorizations, host: new URL(site.origin).host };
}

/** A site with one deployment, whose status must report each version. */
async function confirmedSite(deployment: object): Promise<SiteFixture> {
  const site = await startSite();
  site.configure({ deployments: [{ valuesFile: site.valuesFile, ...deployment }] });
  return site;
}

describe('a deployment with a statusUrl', () => {
  it.concurrent('is live only when every replica serves the version', async () => {
    const [first, second] = [await startStatus(), await startStatus()];
    const withPassword = second.origin.replace('http://', 'http://ada:hush%21@');
    const site = await confirmedSite({ statusUrl: [`${first.origin}/-/status`, `${withPassword}/-/status`] });
    await site.publish();
    await site.until('confirming', ({ phase }) => phase === 'confirming');
    first.serving.version = 'v1';
    await waitFor(() => first.authorizations.length > 1 && second.authorizations.length > 1, {
      describe: 'polled again',
    });
    expect(await site.state()).toMatchObject({ phase: 'confirming', confirmed: false, version: 'v1' });
    second.serving.version = 'v1';
    const live = await site.until('live', ({ phase }) => phase === 'live');
    expect(live).toMatchObject({ confirmed: true, lastError: null, deployments: [{ confirmed: true }] });
    expect(live.exports[0]?.servedAt).toEqual(expect.any(String));
    expect(second.authorizations[0]).toBe(`Basic ${Buffer.from('ada:hush!').toString('base64')}`);
    const { events } = await site.handle.fetchHistory();
    expect(JSON.stringify(events)).not.toContain('hush');
    // A refresh of the link doesn't need another confirmation.
    expect(await site.handle.executeUpdate('refreshNow')).toMatchObject({ phase: 'live', confirmed: true });
  });

  it.concurrent('is replaced by a newer publish while it waits for confirmation', async () => {
    const status = await startStatus();
    const site = await confirmedSite({ statusUrl: `${status.origin}/-/status` });
    await site.publish();
    await site.until('confirming', ({ phase }) => phase === 'confirming');
    await site.publish();
    await site.until(
      'confirming the newer version',
      ({ phase, version }) => phase === 'confirming' && version === 'v2',
    );
    status.serving.version = 'v2';
    const live = await site.until('live', ({ phase }) => phase === 'live');
    expect(live.exports.map(({ servedAt }) => servedAt !== null)).toEqual([true, false]);
  });

  it.concurrent('is rolled back once with a mail if it is late, and the next publish is deployed', async () => {
    const status = await startStatus();
    status.serving.version = 'v1';
    const site = await startSite();
    const valuesFiles = [site.valuesFile, `${site.valuesFile}.eu`];
    const confirmWithin = (time: string) => {
      const settings = { statusUrl: `${status.origin}/-/status`, confirmWithin: time, rollback: 'auto' };
      site.configure({ deployments: valuesFiles.map((valuesFile) => ({ valuesFile, ...settings })) });
    };
    confirmWithin('2m');
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    confirmWithin('6s');
    await site.publish();
    const back = await site.until(
      'rolled back',
      ({ phase, lastError }) => phase === 'live' && lastError?.message.includes('rolled back') === true,
    );
    expect(back.version).toBe('v1');
    expect(back.withheld).toMatchObject({ version: 'v2' });
    expect(back.lastError?.message).toBe(`v2 wasn't served within 6s: ${status.host} serves v1; rolled back to v1`);
    expect(back.actions).toMatchObject([{ actor: 'Galley', action: 'rollback', detail: 'v1', error: null }]);
    const mails = async () =>
      (await mailbox?.mails())?.filter(({ subject }) => subject.includes(`[${site.site}]`)) ?? [];
    await waitFor(async () => (await mails()).length > 0, { describe: 'the mail' });
    expect((await mails()).map(({ subject }) => subject)).toEqual([`[${site.site}] v2 isn’t served`]);
    status.serving.version = 'v3';
    confirmWithin('2m');
    await site.publish();
    expect(await site.until('live', ({ version, phase }) => phase === 'live' && version === 'v3')).toMatchObject({
      lastError: null,
      withheld: null,
    });
  });

  it.concurrent('is failed without a rollback while it is late, and recovers once it serves the version', async () => {
    const status = await startStatus();
    const site = await confirmedSite({ statusUrl: `${status.origin}/-/status`, confirmWithin: '6s' });
    await site.publish();
    const late = await site.until('failed', ({ phase }) => phase === 'failed');
    expect(late).toMatchObject({ version: 'v1', confirmed: false, deployments: [{ confirmed: false, error: null }] });
    expect(late.lastError?.message).toContain(`${status.host} serves nothing`);
    await site.handle.executeUpdate('refreshNow');
    status.serving.version = 'v1';
    expect(await site.until('live', ({ phase }) => phase === 'live')).toMatchObject({
      confirmed: true,
      lastError: null,
    });
  });
});
