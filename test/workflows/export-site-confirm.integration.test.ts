import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { SiteFixture } from './site-fixture.ts';
import { startStatus } from './status-endpoint.ts';
import { useSites } from './use-sites.ts';

let mailbox: Mailbox | undefined;

beforeAll(async () => {
  mailbox = await startMailbox();
});
afterAll(async () => {
  await mailbox?.stop();
});

const { startSite, closeLater } = useSites('dev-server', () => ({
  smtp: { url: mailbox?.smtpUrl ?? '', from: 'Galley <galley@example.com>' },
  operators: ['ada@example.com'],
}));

/** A site with one deployment, whose status must report each version. */
async function confirmedSite(deployment: object): Promise<SiteFixture> {
  const site = await startSite();
  site.configure({ deployments: [{ valuesFile: site.valuesFile, ...deployment }] });
  return site;
}

describe('a deployment with a statusUrl', () => {
  it.concurrent('is live only when every replica serves the version', async () => {
    const [first, second] = [await startStatus(closeLater), await startStatus(closeLater)];
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
    const status = await startStatus(closeLater);
    const site = await startSite();
    const deployment = { valuesFile: site.valuesFile, statusUrl: `${status.origin}/-/status` };
    // Once the oldest publish has waited for longer than this, the older version is confirmed first.
    site.configure({ deployments: [deployment], maxWait: '1h' });
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

  it.concurrent('is rolled back once with a mail if several are late, and the next publish is deployed', async () => {
    const status = await startStatus(closeLater);
    status.serving.version = 'v1';
    const site = await startSite();
    const valuesFiles = [site.valuesFile, `${site.valuesFile}.eu`];
    const confirmWithin = (time: string) => {
      const settings = { statusUrl: `${status.origin}/-/status`, confirmWithin: time, rollback: 'auto' };
      site.configure({ deployments: valuesFiles.map((valuesFile) => ({ valuesFile, ...settings })) });
    };
    confirmWithin('10m');
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    confirmWithin('1s');
    await site.publish();
    const back = await site.until(
      'rolled back',
      ({ phase, lastError }) => phase === 'live' && lastError?.message.includes('rolled back') === true,
    );
    expect(back).toMatchObject({ version: 'v1', withheld: { version: 'v2' } });
    // A busy machine may not even ask within the second. export-site-late.integration.test.ts has the whole message.
    expect(back.lastError?.message).toMatch(/: v2 was not served \(.+\): rolled back to v1$/);
    expect(back.actions.map(({ action, detail }) => [action, detail]).toSorted()).toEqual(
      valuesFiles.map((file) => ['rollback', `${file}: v1`]).toSorted(),
    );
    const mails = async () =>
      (await mailbox?.mails())?.filter(({ subject }) => subject.includes(`[${site.site}]`)) ?? [];
    await waitFor(async () => (await mails()).length > 1, { describe: 'the mails' });
    expect((await mails()).map(({ subject }) => subject).toSorted()).toEqual(
      valuesFiles.map((file) => `[${site.site}] v2 isn’t served by ${file}`).toSorted(),
    );
    status.serving.version = 'v3';
    confirmWithin('10m');
    await site.publish();
    expect(await site.until('live', ({ version, phase }) => phase === 'live' && version === 'v3')).toMatchObject({
      lastError: null,
      withheld: null,
    });
  });
});
