import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import type { ReceivedMail } from '../../embedded/mailbox/received-mail.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { useDevServer } from './dev-server-benches.ts';
import type { SiteBench } from './site-bench.ts';

const { bench } = useDevServer();
const operators = ['ada@example.com', 'grace@example.com'];

describe('the operators of a site', () => {
  let mailbox: Mailbox;

  beforeAll(async () => {
    mailbox = await startMailbox();
  });
  afterAll(async () => {
    await mailbox?.stop();
  });

  const told = async (tellAfter: string): Promise<SiteBench> =>
    await bench({
      smtp: { url: mailbox.smtpUrl, from: 'Galley <galley@example.com>' },
      operators,
      settings: { tellAfter },
    });

  const mailsOf = async ({ site }: SiteBench, count: number): Promise<ReceivedMail[]> =>
    await waitFor(
      async () => {
        const mails = (await mailbox.mails()).filter(({ subject }) => subject.includes(`[${site}]`));
        return mails.length >= count && mails;
      },
      { describe: `got ${count} mails of ${site}` },
    );

  it('are told once of an export that fails again and again, and once that it is over', async () => {
    const site = await told('1s');
    site.api.behaviour.succeed = false;
    await site.publish();
    const mails = await mailsOf(site, operators.length);
    expect(mails.map(({ to }) => to[0]?.address).sort()).toEqual(operators);
    expect(mails[0]?.text).toContain(`export:${site.site}`);

    // It fails once more: nobody hears of it again.
    await site.publish();
    const { trouble } = await site.until(
      'failed twice',
      ({ phase, trouble }) => phase === 'failed' && site.api.jobs.length === 2 && trouble?.mails.length === 2,
    );
    expect(trouble?.mails.map(({ event, outcome }) => [event, outcome])).toEqual([
      ['site-trouble', 'sent'],
      ['site-trouble', 'sent'],
    ]);

    site.api.behaviour.succeed = true;
    await site.publish();
    await site.until('well again', ({ phase, trouble }) => phase === 'live' && trouble === null);
    const all = await mailsOf(site, 2 * operators.length);
    expect(all).toHaveLength(2 * operators.length);
    expect(new Set(all.map(({ subject }) => subject)).size).toBe(1);
    expect(new Set(all.map(({ headers }) => headers.references)).size).toBe(1);
    expect(all.filter(({ text }) => text.includes('up to date again'))).toHaveLength(operators.length);
  });

  it('hear nothing of trouble that is over before the time set', async () => {
    const site = await told('1h');
    site.api.behaviour.succeed = false;
    await site.publish();
    await site.until('failed', ({ phase, trouble }) => phase === 'failed' && trouble !== null);
    site.api.behaviour.succeed = true;
    await site.publish();
    await site.until('well again', ({ phase, trouble }) => phase === 'live' && trouble === null);
    expect((await mailbox.mails()).filter(({ subject }) => subject.includes(site.site))).toEqual([]);
  });

  it('are told once where another run takes over meanwhile', async () => {
    const site = await told('1s');
    site.api.behaviour.succeed = false;
    await site.publish();
    await mailsOf(site, operators.length);
    const { runId } = await site.handle.describe();
    // Enough history for the run to continue as new, in trouble still.
    await waitFor(
      async () => {
        await site.publish();
        return (await site.handle.describe()).runId !== runId;
      },
      { describe: 'continued as new', everyMs: 20, timeoutMs: 120_000 },
    );
    await site.until('in trouble still', ({ trouble }) => trouble?.mails.length === operators.length);
    expect(await mailsOf(site, operators.length)).toHaveLength(operators.length);
  });
});
