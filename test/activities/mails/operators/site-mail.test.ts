import type { SiteMailInput } from '../../../../activities/mails/mail-input.ts';
import { readSender } from '../../../../activities/mails/message/compose-mail.ts';
import { composeSiteMail } from '../../../../activities/mails/operators/site-mail.ts';

const date = new Date('2026-11-21T08:00:00Z');

function mailOf(changes: Partial<SiteMailInput>) {
  const input: SiteMailInput = {
    ...{ site: 'handbook', domain: 'docs.example.com', workflowId: 'export:handbook', event: 'site-approval' },
    ...{ to: 'ops@example.com', since: '2026-11-21T08:00:00.000Z', error: null, version: 'v1' },
    ...{ linkExpiresAt: '2026-11-22T08:00:00Z', deployment: 'production', url: null, heldVersion: 'v2' },
    ...changes,
  };
  const { subject, text, html, messageId } = composeSiteMail(input, { sender: readSender('galley@example.com'), date });
  // Without the breaks of lines.
  return { subject, messageId, html: String(html), text: String(text).replace(/\s+/g, ' ') };
}

test('the mail that asks for approval says how, and links to where the version is served already', () => {
  const pageUrl = 'https://galley.example.com/ui/sites/handbook';
  const { subject, text, html } = mailOf({
    ...{ url: 'https://staging.example.com', pageUrl, previewUrl: 'https://galley.example.com/previews/x/' },
  });
  expect(text).toContain('Preview, for a day: https://galley.example.com/previews/x/');
  expect(subject).toBe('[handbook] v2 waits for approval on production');
  expect(text).toContain(
    "galley sites approve handbook --deployment 'production' or galley sites reject handbook --deployment 'production', or use https://galley.example.com/ui/sites/handbook.",
  );
  expect(text).toContain('Served already at: https://staging.example.com');
  expect(html).toContain('href="https://staging.example.com"');
});

test.each([
  ['site-not-served', 'v2 isn’t served by production', ['GET /-/status', 'Rolled back to v1', 'galley sites status']],
  ['site-unknown', 'production doesn’t say whether it serves v2', ['Nothing was rolled back', 'statusUrl']],
  ['site-link', 'The link of v2 can’t be renewed', ['galley sites unlock handbook', '2026-11-22T08:00:00Z']],
  ['site-proposal', 'The pull request of production isn’t merged', ['merge the pull request', '2026-11-22T08:00:00Z']],
] as const)('the mail %s names the deployment and what to do', (event, subject, words) => {
  const mail = mailOf({ event, error: { message: 'it serves v0\nRolled back to v1.', status: null } });
  expect(mail.subject).toBe(`[handbook] ${subject}`);
  expect(mail.text).toContain('“production” of “docs.example.com” (site “handbook”)');
  for (const each of ['What to do:', ...words]) expect(mail.text).toContain(each);
});

test('two deployments that a version waits for get two messages', () => {
  expect(mailOf({ deployment: 'eu' }).messageId).not.toBe(mailOf({ deployment: 'us' }).messageId);
});
