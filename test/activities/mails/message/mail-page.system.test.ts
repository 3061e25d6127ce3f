import { type Browser, chromium } from 'playwright-core';
import { readSender } from '../../../../activities/mails/message/compose-mail.ts';
import { composeAgentFailureMail } from '../../../../activities/mails/operators/agent-failure-mail.ts';
import { composeRuleMail } from '../../../../activities/mails/operators/rule-mail.ts';
import { composeSiteMail } from '../../../../activities/mails/operators/site-mail.ts';
import { composeReviewMail } from '../../../../activities/mails/reviewers/review-mail.ts';
import { STEP_TIMEOUT_MS } from '../../../exporter/sites/visitor.ts';
import { locateRealTool } from '../../../helpers/real-tool.ts';
import { INPUT } from '../review-input.ts';

const sender = readSender('Galley <galley@example.com>');
const date = new Date('2026-11-23T09:30:00Z');
const unsubscribeLink = 'https://galley.example.com/unsubscribe/handbook/changelog/YWRhQGV4YW1wbGUuY29t/abc';
const LONG = `https://example.com/${'a'.repeat(300)}`;

const PAGES: [string, string][] = [
  ['a request', String(composeReviewMail(INPUT, { sender, date, unsubscribeLink }).html)],
  [
    'a reminder with words that never end',
    String(
      composeReviewMail(
        {
          ...INPUT,
          event: 'reminder-1',
          pullRequest: { url: LONG, title: 'w'.repeat(190) },
          publish: { ...INPUT.publish, title: 'x'.repeat(190), author: 'y'.repeat(90), url: LONG },
        },
        { sender, date, unsubscribeLink },
      ).html,
    ),
  ],
  [
    'an operator’s mail',
    String(
      composeAgentFailureMail(
        { ...INPUT, event: 'job-failed', jobId: 'aj_1', message: `exit code 1\n${'z'.repeat(280)}` },
        { sender, date },
      ).html,
    ),
  ],
  [
    'a mail about an agent rule',
    String(
      composeRuleMail(
        {
          site: 'handbook',
          rule: 'changelog',
          workflowId: 'agent:handbook:changelog',
          event: 'rule-trouble',
          to: 'ops@example.com',
          since: date.toISOString(),
          error: `not configured on the worker that was asked (host): ${'z'.repeat(280)}`,
          pendingCount: 3,
          keepsSettings: false,
        },
        { sender, date },
      ).html,
    ),
  ],
  [
    'a mail about a site',
    String(
      composeSiteMail(
        {
          site: 'handbook',
          domain: 'docs.example.com',
          workflowId: 'export:handbook',
          event: 'site-trouble',
          deployment: null,
          url: null,
          to: 'ops@example.com',
          since: date.toISOString(),
          error: { message: `the job failed\n${'z'.repeat(280)}`, status: 403 },
          version: '2026-11-21.3',
          linkExpiresAt: date.toISOString(),
        },
        { sender, date },
      ).html,
    ),
  ],
];

/** The lowest contrast between text and background, by the WCAG formula. Runs in the page. */
const LOWEST_CONTRAST = `(() => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgroundOf = (element) => {
    for (let each = element; each !== null; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const texts = [...document.body.querySelectorAll('*')].filter((element) =>
    element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()));
  return Math.min(...texts.map((element) => {
    const [one, other] = [luminance(getComputedStyle(element).color), luminance(backgroundOf(element))];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  }));
})()`;

describe('the HTML part in a browser', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: await locateRealTool('chromium'), args: ['--no-sandbox'] });
  });

  afterAll(() => browser?.close());

  describe.each(PAGES)('of %s', (_, html) => {
    it.each([
      [600, 'light'],
      [600, 'dark'],
      [375, 'light'],
      [375, 'dark'],
    ] as const)('fits %i pixels, is readable in the %s, and loads nothing', async (width, colorScheme) => {
      const page = await browser.newPage({ viewport: { width, height: 600 }, colorScheme });
      page.setDefaultTimeout(STEP_TIMEOUT_MS);
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await page.setContent(html);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      // WCAG AA for text of any size.
      expect(await page.evaluate(LOWEST_CONTRAST)).toBeGreaterThanOrEqual(4.5);
      expect(requests).toEqual([]);
      await page.close();
    });
  });
});
