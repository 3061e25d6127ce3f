import { slackText } from '../../../activities/notifications/slack-text.ts';
import type { NotificationEvent } from '../../../contract/notification.ts';

const occurrence = { id: 'e', at: '2026-11-21T08:00:00.000Z' };
const site = { site: 'docs', domain: 'docs.example.com' };
const published = (title: string, url: string, publishes = 1): NotificationEvent => ({
  ...occurrence,
  type: 'published',
  data: { ...site, publishes, title, url },
});

const TEXTS: [NotificationEvent, string][] = [
  [published('Start', 'https://cms.example.com/1'), 'an export of <https://cms.example.com/1|Start> begins'],
  [published('', '', 3), 'an export of a publish begins, the newest of 3 publishes'],
  [
    { ...occurrence, type: 'served', data: { ...site, version: 'v1', jobId: 'se_1', rolledBack: true } },
    'serves v1 after a rollback',
  ],
  [
    { ...occurrence, type: 'failed', data: { ...site, since: occurrence.at, error: 'a <b> & c', status: 500 } },
    'not up to date since 2026-11-21T08:00:00.000Z: a &lt;b&gt; &amp; c',
  ],
  [
    { ...occurrence, type: 'recovered', data: { ...site, since: occurrence.at, version: null } },
    'up to date again, after it failed since 2026-11-21T08:00:00.000Z',
  ],
  [
    {
      ...occurrence,
      type: 'pull-request',
      data: { site: 'docs', rule: 'changelog', action: 'merged', title: 'Line', url: 'https://git.example.com/1' },
    },
    'the pull request <https://git.example.com/1|Line> of the rule changelog was merged',
  ],
];

describe("a message in Slack's format", () => {
  it.each(TEXTS)('of %j names the site and what happened', (event, expected) => {
    expect(slackText(event, null)).toBe(`*docs*: ${expected}`);
    expect(slackText(event, 'https://galley.example.com/ui/sites/docs')).toBe(
      `*docs*: ${expected} (<https://galley.example.com/ui/sites/docs|site page>)`,
    );
  });

  it.each([
    ['<!channel> <@U123> &lt;', 'https://x.test', '<https://x.test/|&lt;!channel&gt; &lt;@\u200bU123&gt; &amp;lt;>'],
    ['a\n\n*b*\u202e|c', 'https://x.test', '<https://x.test/|a *b*¦c>'],
    ['@channel', 'https://x.test/?a=1&b=<|>', '<https://x.test/?a=1&amp;b=%3C%7C%3E|@\u200bchannel>'],
    ['no link', 'javascript:alert(1)', 'no link'],
    ['no link', 'not a URL', 'no link'],
  ])('contains no mention and keeps its format with the title %j', (title, url, expected) => {
    expect(slackText(published(title, url), null)).toBe(`*docs*: an export of ${expected} begins`);
  });

  it('stays short with any title', () => {
    expect(slackText(published('x'.repeat(10_000), ''), null).length).toBeLessThan(300);
  });
});
