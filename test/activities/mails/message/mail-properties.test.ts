import nodemailer, { type SendMailOptions } from 'nodemailer';
import type {
  OperatorMailInput,
  ReviewMailInput,
  RuleMailInput,
  SiteMailInput,
} from '../../../../activities/mails/mail-input.ts';
import { plainLine, readSender } from '../../../../activities/mails/message/compose-mail.ts';
import { composeAgentFailureMail } from '../../../../activities/mails/operators/agent-failure-mail.ts';
import { composeRuleMail } from '../../../../activities/mails/operators/rule-mail.ts';
import { composeSiteMail } from '../../../../activities/mails/operators/site-mail.ts';
import { composeReviewMail } from '../../../../activities/mails/reviewers/review-mail.ts';
import { wrapText } from '../../../../contract/wrap-text.ts';
import fc, { anyCharacter } from '../../../helpers/fast-check.ts';
import { INPUT } from '../review-input.ts';

const sender = readSender('Galley <galley@example.com>');
const date = new Date('2026-11-21T08:00:00Z');
const unsubscribeLink = 'https://galley.example.com/unsubscribe/handbook/changelog/YWRh/abc';
const writer = nodemailer.createTransport({ streamTransport: true, buffer: true });

async function bytesOf(mail: SendMailOptions): Promise<string> {
  const { message } = await writer.sendMail(mail);
  return Buffer.isBuffer(message) ? message.toString('latin1') : '';
}

/** The header lines of a message, unfolded. */
function headersOf(raw: string): { name: string; value: string }[] {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
  return head
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n')
    .map((line) => {
      const [, name = '', value = ''] = /^([!-9;-~]+): (.*)$/s.exec(line) ?? [];
      return { name, value };
    });
}

/** Text as an attacker would write it: header syntax, line ends of every kind, directions, halves of characters. */
const PIECES = [
  ...'\r\n|\n|\r|\u2028|\u2029|\u0085|\0|\x1b[2J|\u202e|\u2066|\ud800|\udc00'.split('|'),
  ...'Bcc: eve@example.com|Subject: x|\r\n.\r\n|MAIL FROM:<eve@example.com>|=?UTF-8?B?QmNj?=|<|>'.split('|'),
  ...'{{title}}|{{{title}}}|</title><script>|" onclick="|--|\r\n\r\n|ש|é|👩‍🚀| |x'.split('|'),
];
const nasty = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((parts) => parts.join('')),
  fc.constant('long '.repeat(5_000)),
  fc.constant('w'.repeat(20_000)),
);

const reviewInput: fc.Arbitrary<ReviewMailInput> = fc.record({
  site: fc.constant('handbook'),
  rule: fc.constant('changelog'),
  changeId: nasty,
  event: fc.constantFrom('review-requested' as const, 'reminder-1' as const),
  to: fc.constant('ada@example.com'),
  pullRequest: fc.record({
    url: fc.oneof(nasty, fc.constant('javascript:alert(1)'), fc.constant(INPUT.pullRequest.url)),
    title: nasty,
  }),
  publish: fc.record({
    source: nasty,
    topic: nasty,
    action: fc.constantFrom('publish' as const, 'unpublish' as const, 'other' as const),
    id: nasty,
    title: nasty,
    url: fc.oneof(nasty, fc.constant('javascript:alert(1)')),
    author: nasty,
    at: nasty,
  }),
  eventCount: fc.integer({ min: 1, max: 1_000_000 }),
  requestedAt: nasty,
});

const operatorInput: fc.Arbitrary<OperatorMailInput> = fc.record({
  site: fc.constant('handbook'),
  rule: fc.constant('changelog'),
  changeId: nasty,
  event: fc.constant('job-failed' as const),
  to: fc.constant('ops@example.com'),
  jobId: fc.option(nasty),
  message: nasty,
});

const siteInput = (...events: SiteMailInput['event'][]): fc.Arbitrary<SiteMailInput> =>
  fc.record({
    site: fc.constant('handbook'),
    domain: nasty,
    workflowId: nasty,
    event: fc.constantFrom(...events),
    to: fc.constant('ops@example.com'),
    since: fc.constant('2026-11-21T08:00:00.000Z'),
    error: fc.option(fc.record({ message: nasty, status: fc.option(fc.integer()) })),
    version: fc.option(nasty),
    linkExpiresAt: fc.option(nasty),
    deployment: fc.option(nasty),
    url: fc.option(fc.oneof(nasty, fc.constant('javascript:alert(1)'))),
    heldVersion: nasty,
    pageUrl: fc.option(nasty, { nil: null }),
  });

const ruleInput: fc.Arbitrary<RuleMailInput> = fc.record({
  site: fc.constant('handbook'),
  rule: fc.constant('changelog'),
  workflowId: nasty,
  event: fc.constantFrom('rule-trouble', 'rule-recovered'),
  to: fc.constant('ops@example.com'),
  since: fc.constant('2026-11-21T08:00:00.000Z'),
  error: fc.option(nasty),
  pendingCount: fc.nat(),
  keepsSettings: fc.boolean(),
});

const REVIEW_HEADERS = (
  'List-ID List-Unsubscribe List-Unsubscribe-Post Auto-Submitted X-Auto-Response-Suppress From To ' +
  'In-Reply-To References Subject Message-ID Date MIME-Version Content-Type'
).split(' ');
/** Mails about a failure that persisted and was resolved. */
const FAILURE_HEADERS = REVIEW_HEADERS.filter((name) => !name.startsWith('List-Unsubscribe'));
const OPERATOR_HEADERS = REVIEW_HEADERS.filter((name) => !/^(List-Unsubscribe|In-Reply-To|References)/.test(name));

function expectSafe(raw: string, names: string[], to: string): void {
  const headers = headersOf(raw);
  expect(headers.map(({ name }) => name)).toEqual(names);
  expect(headers.find(({ name }) => name === 'To')?.value).toBe(to);
  expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/);
  expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
  // Mails are ASCII only, and other characters are encoded.
  expect(raw).toMatch(/^[\r\n\t\x20-\x7e]*$/);
}

describe('any text from a CMS, a forge or an agent', () => {
  it('adds no header, no line and no recipient to a reviewer’s mail', async () => {
    await fc.assert(
      fc.asyncProperty(reviewInput, async (input) => {
        const mail = composeReviewMail(input, { sender, date, unsubscribeLink });
        expectSafe(await bytesOf(mail), REVIEW_HEADERS, input.to);
        expect(mail.envelope).toEqual({ from: 'galley@example.com', to: [input.to] });
      }),
      { numRuns: 150 },
    );
  });

  const options = { sender, date };
  const operatorMail = operatorInput.map((input) => composeAgentFailureMail(input, options));
  const siteMail = siteInput('site-trouble', 'site-recovered').map((input) => composeSiteMail(input, options));
  const eventMail = siteInput(
    ...(['site-review', 'site-not-served', 'site-unknown', 'site-approval', 'site-link', 'site-proposal'] as const),
  ).map((input) => composeSiteMail(input, options));
  const ruleMail = ruleInput.map((input) => composeRuleMail(input, options));

  it.each([
    ['an operator’s mail', operatorMail, OPERATOR_HEADERS],
    ['a mail about a deployment', eventMail, OPERATOR_HEADERS],
    ['a mail about a site but those that join the two of one failure', siteMail, FAILURE_HEADERS],
    ['a mail about a rule but those that join the two of one failure', ruleMail, FAILURE_HEADERS],
  ])('adds none to %s', async (_what, mails, names) => {
    const isSafe = fc.asyncProperty(mails, async (mail) => expectSafe(await bytesOf(mail), names, 'ops@example.com'));
    await fc.assert(isSafe, { numRuns: 100 });
  });

  it('stays text in the HTML part: it adds no tag, no attribute and no URL', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          reviewInput.map((input) => composeReviewMail(input, { ...options, unsubscribeLink })),
          eventMail,
        ),
        (mail) => {
          const html = String(mail.html);
          const tags = [...html.matchAll(/<\/?([a-z0-9]+)/g)].map(([, name]) => name);
          const known = new Set('html head meta title style body div h1 p a span bdi'.split(' '));
          expect(tags.filter((name = '') => !known.has(name))).toEqual([]);
          const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link);
          expect(links.filter((link) => !link.startsWith('http'))).toEqual([]);
          expect(html).not.toMatch(/ on[a-z]+="/);
          expect(html).not.toMatch(/<img|url\(|@import|src=/);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('the same mail', () => {
  it('has the same bytes in every attempt', async () => {
    const write = (): Promise<string> => bytesOf(composeReviewMail(INPUT, { sender, date, unsubscribeLink }));
    expect(await write()).toBe(await write());
  });
});

describe('one line of text', () => {
  it('has no line end, control character or direction character, and respects its maximum length', () => {
    fc.assert(
      fc.property(nasty, fc.integer({ min: 5, max: 80 }), (text, length) => {
        const line = plainLine(text, length);
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u);
        expect([...new Intl.Segmenter('en').segment(line)].length).toBeLessThanOrEqual(length);
        expect(line).toBe(line.trim());
        expect(plainLine(line, length)).toBe(line);
      }),
    );
  });

  it.each([
    ['Grüße aus 東京', 'Grüße aus 東京'],
    ['one\r\nBcc: two', 'one Bcc: two'],
    ['pay\u202egnp.exe', 'paygnp.exe'],
    ['👩‍🚀 می‌خواهم', '👩‍🚀 می‌خواهم'],
    ['half \ud83d', 'half \ufffd'],
    ['  spaces \t and\u00a0more ', 'spaces and more'],
    ['a'.repeat(60), `${'a'.repeat(49)}…`],
  ])('of %j is %j', (text, line) => {
    expect(plainLine(text, 50)).toBe(line);
  });
});

describe('wrapped text', () => {
  it('keeps every word in order, and breaks lines only between words', () => {
    const words = fc.array(fc.stringMatching(/^[!-~]{1,120}$/), { maxLength: 60 });
    fc.assert(
      fc.property(words, (list) => {
        const wrapped = wrapText(list.join(' '), 72, '  ');
        expect(wrapped.split(/\s+/).filter(Boolean)).toEqual(list);
        for (const line of wrapped.split('\n')) expect(line.length <= 72 || !line.trim().includes(' ')).toBe(true);
      }),
    );
  });
});
