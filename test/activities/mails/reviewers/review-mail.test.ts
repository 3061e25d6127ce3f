import type { ReviewMailInput } from '../../../../activities/mails/mail-input.ts';
import type { OutgoingMail } from '../../../../activities/mails/message/compose-mail.ts';
import { composeAgentFailureMail } from '../../../../activities/mails/operators/agent-failure-mail.ts';
import { composeReviewMail } from '../../../../activities/mails/reviewers/review-mail.ts';
import { createUnsubscribeLink } from '../../../../activities/mails/reviewers/unsubscribe-link.ts';
import { createMailer } from '../../../../activities/mails/send/mailer.ts';
import type { ReceivedMail } from '../../../../embedded/mailbox/mailbox.ts';
import { startMailbox } from '../../../../embedded/mailbox/mailbox.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { INPUT } from '../review-input.ts';

const KEY = 'galley_key';
const PUBLIC_URL = 'https://galley.example.com/hooks/';
const date = new Date('2026-11-23T09:30:00Z');

const mailbox = await startMailbox();
const mailer = createMailer({ url: mailbox.smtpUrl, from: '"Galley, the “orchestrator”" <galley@example.com>' });

afterAll(async () => {
  mailer?.close();
  await mailbox?.stop();
});

type Arrived = { mail: ReceivedMail; raw: string; header: (name: string) => string };

/** Sends a mail to a real server and returns it as parsed by that server. */
async function arrive(mail: OutgoingMail): Promise<Arrived> {
  const never = new AbortController().signal;
  const before = (await mailbox.mails()).length;
  const options = { beforeLastLine: async () => {}, unlessReleased: never, anyway: never };
  expect(await mailer.deliver(mail, options)).toMatchObject({ kind: 'accepted' });
  const received = await waitFor(async () => (await mailbox.mails())[before], { describe: 'arrived' });
  return {
    mail: received,
    raw: await mailbox.rawMail(received),
    header: (name) => [received.headers[name] ?? ''].flat().join(' | '),
  };
}

async function review(
  change: Partial<ReviewMailInput> = {},
  publicUrl: string | null = PUBLIC_URL,
  reviewLink: string | null = null,
): Promise<Arrived> {
  const input = { ...INPUT, ...change };
  const { site, rule, to: address } = input;
  const unsubscribeLink = publicUrl && createUnsubscribeLink(publicUrl, { site, rule, address }, KEY);
  return await arrive(composeReviewMail(input, { sender: mailer.sender, date, unsubscribeLink, reviewLink }));
}

describe('the mail that requests a review', () => {
  it('contains the publish, the change of the agent, the pull request and the unsubscribe link, in both parts', async () => {
    const { mail } = await review({
      pullRequest: { url: INPUT.pullRequest.url, title: 'Änderung <b>1</b> & „mehr“ 東京 👩‍🚀' },
      publish: { ...INPUT.publish, title: 'Grüße & <mehr>', author: 'Grace “Amazing” Hopper' },
      eventCount: 3,
    });
    expect(mail.subject).toBe('[handbook] Änderung <b>1</b> & „mehr“ 東京 👩‍🚀');
    expect(mail.to).toEqual([{ address: 'ada@example.com', name: '' }]);
    expect(mail.from).toEqual([{ address: 'galley@example.com', name: 'Galley, the “orchestrator”' }]);
    const words = mail.text.replace(/\s+/g, ' ');
    for (const part of [
      INPUT.pullRequest.url,
      'Published: Grüße & <mehr>',
      'https://docs.example.com/start',
      '21 November 2026 at 08:00 UTC, by Grace “Amazing” Hopper, through contentful',
      '2 events before it',
      'The rule “changelog” of the site “handbook” passed this to its coding agent',
      'Stop these mails: https://galley.example.com/hooks/unsubscribe/handbook/changelog/',
    ]) {
      expect(words).toContain(part);
    }
    expect(mail.html).toContain('Änderung &lt;b&gt;1&lt;/b&gt; &amp; „mehr“ 東京 👩‍🚀');
    expect(mail.html).toContain('Grüße &amp; &lt;mehr&gt;');
    expect(mail.html).toContain('Stop these mails</a>');
    expect(mail.html).toContain(`href="${INPUT.pullRequest.url}"`);
  });

  it('has the headers of automatic list mail with one-click unsubscribe', async () => {
    const { header, raw } = await review();
    expect(header('list-id')).toBe('"changelog of handbook" <changelog.handbook.galley.example.com>');
    expect(header('auto-submitted')).toBe('auto-generated');
    expect(header('precedence')).toBe('');
    // RFC 8058 requires both headers in exactly this form, with the link on one line.
    expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const link = /^List-Unsubscribe: <(https:[^>\s]+)>\r$/m.exec(raw)?.[1] ?? '';
    const subscription = { site: 'handbook', rule: 'changelog', address: 'ada@example.com' };
    expect(link).toBe(createUnsubscribeLink(PUBLIC_URL, subscription, KEY));
    expect(header('date')).toBe('Mon, 23 Nov 2026 09:30:00 +0000');
  });

  it("contains the reviewer's own link in both parts, in the thread of the pull request", async () => {
    const link = `${INPUT.pullRequest.url}/review?key=review_tn8x40.${'YWRh'.repeat(20)}.${'x'.repeat(43)}`;
    const [own, plain] = [await review({}, PUBLIC_URL, link), await review()];
    expect(own.mail.text.split('\n').map((line) => line.trim())).toContain(link);
    expect(own.mail.html).toContain(`href="${link}"`);
    expect(own.mail.text.replace(/\s+/g, ' ')).toContain('can approve and merge as ada@example.com');
    expect(plain.mail.text).not.toContain('can approve and merge');
    for (const name of ['references', 'message-id']) expect(own.header(name)).toBe(plain.header(name));
  });

  it('has no link to unsubscribe without a public URL', async () => {
    const { header, mail } = await review({}, null);
    expect(header('list-unsubscribe')).toBe('');
    expect(header('list-unsubscribe-post')).toBe('');
    expect(mail.text).not.toContain('Stop these mails');
    expect(mail.html).not.toContain('Stop these mails');
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'not an address', ''])(
    'contains no link that is not a web page (%j)',
    async (url) => {
      const { mail } = await review({ publish: { ...INPUT.publish, url } });
      expect(mail.html).not.toContain('href="javascript');
      expect(mail.html).not.toContain('href="data');
      expect(mail.html).toContain('Getting started');
    },
  );
});

describe('all mail of one pull request', () => {
  it('is one thread: different ids, but the same reference and subject', async () => {
    const request = await review();
    const reminded = await review({ event: 'reminder-1', requestedAt: '2026-11-21T08:00:00Z' });
    const colleague = await review({ to: 'bob@example.com' });
    const other = await review({ pullRequest: { ...INPUT.pullRequest, url: `${INPUT.pullRequest.url}1` } });
    const [a, b, c, d] = [request, reminded, colleague, other].map(({ header }) => header('message-id'));
    expect(new Set([a, b, c]).size).toBe(3);
    // Another pull request of the same change keeps the event's id; what tells the threads apart is the reference.
    expect(d).toBe(a);
    for (const name of ['references', 'in-reply-to']) {
      expect(reminded.header(name)).toBe(request.header(name));
      expect(colleague.header(name)).toBe(request.header(name));
      expect(other.header(name)).not.toBe(request.header(name));
      expect(request.header(name)).toMatch(/^<pull-request\.[0-9a-f]{32}@example\.com>$/);
    }
    expect(reminded.mail.subject).toBe(request.mail.subject);
  });

  it('has the same id in every attempt, for upper and lower case addresses', async () => {
    const [one, two] = [await review(), await review({ to: 'Ada@Example.com' })];
    expect(one.header('message-id')).toBe(two.header('message-id'));
    expect(one.header('message-id')).toMatch(/^<review-requested\.[0-9a-f]{32}@example\.com>$/);
  });

  it('says in a reminder since when the review has been waiting', async () => {
    const { mail } = await review({ event: 'reminder-2', requestedAt: '2026-11-21T08:00:00Z' });
    const words = mail.text.replace(/\s+/g, ' ');
    expect(words).toContain('still awaits a review');
    expect(words).toContain('waiting for 2 days, since 21 November 2026 at 08:00 UTC');
    expect(mail.html).toContain('for 2 days, since 21 November 2026 at 08:00 UTC');
  });
});

describe('the mail to an operator', () => {
  it('contains the site, the rule, the job, its last output and instructions', async () => {
    const message = 'fatal: no CHANGELOG.md\n\n  <script>\r\nexit code 1';
    const { mail, header } = await arrive(
      composeAgentFailureMail(
        { ...INPUT, event: 'job-failed', to: 'ops@example.com', jobId: 'aj_0123456789abcdef', message },
        { sender: mailer.sender, date },
      ),
    );
    expect(mail.subject).toBe('[handbook] Agent job of changelog failed');
    expect(mail.text).toContain('  fatal: no CHANGELOG.md\n  <script>\n  exit code 1\n');
    for (const part of ['handbook / changelog', 'aj_0123456789abcdef', INPUT.changeId, 'What to do:']) {
      expect(mail.text).toContain(part);
    }
    expect(mail.html).toContain('fatal: no CHANGELOG.md\n&lt;script&gt;\nexit code 1');
    expect(header('auto-submitted')).toBe('auto-generated');
    expect(header('list-unsubscribe')).toBe('');
  });
});

describe('an unsubscribe link', () => {
  const subscription = { site: 'handbook', rule: 'changelog', address: 'ada+news@example.com' };
  const tokenOf = (link: string): string => link.split('/').at(-1) ?? '';

  it('names the subscription, and has a different token for each subscription and key', () => {
    const link = createUnsubscribeLink(PUBLIC_URL, subscription, KEY);
    const [site, rule, address = ''] = new URL(link).pathname.replace('/hooks/unsubscribe/', '').split('/');
    expect([site, rule, Buffer.from(address, 'base64url').toString()]).toEqual(Object.values(subscription));
    const others = [{ site: 'blog' }, { rule: 'news' }, { address: 'eve@example.com' }].map((change) =>
      createUnsubscribeLink(PUBLIC_URL, { ...subscription, ...change }, KEY),
    );
    const tokens = [link, ...others, createUnsubscribeLink(PUBLIC_URL, subscription, 'another key')].map(tokenOf);
    expect(new Set(tokens).size).toBe(5);
  });

  it("keeps the path prefix of the receiver's public URL", () => {
    for (const base of ['https://galley.example.com', 'https://galley.example.com/', 'http://127.0.0.1:3000/a/b//']) {
      const link = createUnsubscribeLink(base, subscription, KEY);
      expect(link).toBe(
        `${base.replace(/\/+$/, '')}/unsubscribe/handbook/changelog/${link.split('/').slice(-2).join('/')}`,
      );
    }
  });
});

describe('the mail about a follow-up', () => {
  const about = { reviewer: 'ada <b>', reason: null, said: 'Made it shorter.\n<script>' };

  it("has the agent's last words as data, in the thread of the pull request", async () => {
    const { mail, header } = await review({ event: 'follow-up-1', followUp: about });
    expect(mail.text).toContain('ada <b> requested changes');
    expect(mail.text).toMatch(/^ {2}Made it shorter\.\n {2}<script>$/m);
    expect(mail.html).not.toContain('<script>');
    const requested = await review();
    expect(header('references')).toBe(requested.header('references'));
    expect(mail.subject).toBe(requested.mail.subject);
    expect(header('message-id')).not.toBe(requested.header('message-id'));
  });

  it.each(['follow-up-1', 'person-needed-1'] as const)(
    'asks a person if the agent can not do it (%s)',
    async (event) => {
      const reason = 'the agent failed: exit code 1';
      const { mail } = await review({ event, followUp: { ...about, reason, said: null } });
      expect(mail.text).toContain('This pull request needs a person');
      expect(mail.text.replaceAll(/\s+/g, ' ')).toContain(`can’t make them: ${reason}. Please make them yourself`);
    },
  );

  it('asks the operators if no reviewer has mail', async () => {
    const { site, rule, changeId } = INPUT;
    const input = { site, rule, changeId, event: 'person-needed-1', to: 'ops@example.com', jobId: 'aj_1' } as const;
    const context = { sender: mailer.sender, date };
    const message = 'the Admin API takes no follow-ups';
    const { mail } = await arrive(
      composeAgentFailureMail({ ...input, message, prLink: INPUT.pullRequest.url }, context),
    );
    expect(mail.subject).toBe('[handbook] A change by changelog needs a person');
    for (const text of [message, INPUT.pullRequest.url]) expect(mail.text).toContain(text);
  });
});
