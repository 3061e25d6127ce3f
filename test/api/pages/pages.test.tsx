import { Parser } from 'htmlparser2';
import type { VNode } from 'preact';
import { ChangePage } from '../../../api/pages/change-page.tsx';
import { RulePage } from '../../../api/pages/rule-page.tsx';
import { SiteListView } from '../../../api/pages/site-list-page.tsx';
import { SitePage } from '../../../api/pages/site-page.tsx';
import { renderPart } from '../../../ui/page.tsx';
import { changeState, ruleState, SAMPLE_PAGES, SIGNED, siteListData, siteView } from './sample-pages.tsx';
import { NOW } from './site-fixture.ts';

const HOSTILE = [
  `</title></table><script>alert(1)</script>"' onload=alert(1) x='`,
  '\u202egnp.exe\u0000',
  'x'.repeat(10_000),
  'مرحبا بالعالم',
];

/** Pages in which every external text is `text`. */
const PAGES: Record<string, (text: string) => VNode> = {
  sites: (text) => {
    const [first, ...others] = siteListData().sites;
    const sites = first === undefined ? [] : [{ ...first, version: text, lastError: text }, ...others];
    const query = { search: text, phase: '', after: '' };
    return <SiteListView signed={SIGNED} list={siteListData({ sites })} query={query} now={NOW} />;
  },
  site: (text) => {
    const { status } = siteView();
    const view = siteView({
      version: text,
      withheld: { version: text, exportedAt: text },
      lastError: { message: text, status: null, at: text },
      deliveries: status.deliveries.map((each) => {
        return { ...each, topic: text, title: text, author: text, why: text, source: text };
      }),
      exports: status.exports.map((each) => ({ ...each, title: text, author: text, error: text, version: text })),
      refreshes: status.refreshes.map((each) => ({ ...each, error: text })),
      actions: status.actions.map((each) => ({ ...each, actor: text, detail: text, error: text })),
      deployments: status.deployments.map((each) => ({
        ...each,
        ...{ name: `${each.name} ${text}`, version: text, pin: text, url: null, proposal: text },
        error: { message: text, status: null, at: text },
        desired: { version: text, jobId: text, reason: 'waits-for-approval' as const },
      })),
      lock: { by: text, at: NOW.toISOString(), reason: text },
      rejected: status.rejected.map((each) => ({ ...each, reason: text, source: text })),
    });
    const filtered = view.filtered.map((each) => ({ ...each, topic: text, why: text, source: text }));
    return <SitePage signed={SIGNED} view={{ ...view, filtered }} />;
  },
  rule: (text) => {
    const end = { phase: 'failed' as const, message: text };
    const changes = ruleState().changes.map((each) => ({ ...each, end }));
    const state = ruleState({ error: text, unsubscribed: [text], changes });
    return (
      <RulePage
        signed={SIGNED}
        site="handbook"
        rule="changelog"
        state={state}
        states={Object.fromEntries(
          changes.map(({ workflowId }) => [workflowId, changeState({ pullRequest: { title: text, state: 'open' } })]),
        )}
        workflowUrl={undefined}
        now={NOW}
      />
    );
  },
  change: (text) => {
    const state = changeState({
      ...{ prLink: text, error: text, lastWords: text, notes: [text], jobId: text },
      pullRequest: { title: text, state: 'open' },
      mails: changeState().mails.map((each) => ({ ...each, to: text, event: text, detail: text })),
      reviewRequests: { requested: [text], refused: [{ name: text, reason: text }] },
    });
    return (
      <ChangePage signed={SIGNED} workflowId="agent:handbook:r:1" state={state} workflowUrl={undefined} now={NOW} />
    );
  },
};

/** The elements of a page with the names of their attributes, as a browser parses them. */
function shapeOf(html: string): string[] {
  const shape: string[] = [];
  const onopentag = (name: string, attributes: object) => void shape.push([name, ...Object.keys(attributes)].join(' '));
  new Parser({ onopentag }).end(html);
  return shape;
}

describe.each(Object.entries(PAGES))('the page %s', (_name, render) => {
  test.each(HOSTILE)('shows a hostile text as text: %.40s', (text) => {
    const html = renderPart(render(text));
    expect(shapeOf(html)).toEqual(shapeOf(renderPart(render('harmless'))));
    for (const hidden of ['\u0000', '\u202e']) expect(html.includes(hidden)).toBe(false);
  });
});

describe.each(Object.entries(SAMPLE_PAGES))('the sample page %s', (_name, render) => {
  const html = renderPart(render());

  it('has no inline styles or scripts, and has a title', () => {
    expect(html).not.toMatch(/\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)/);
    expect(html).toMatch(/<title>[^<]+ · Galley<\/title>/);
  });

  it('has a CSRF token in every form that is posted', () => {
    const forms = [...html.matchAll(/<form[^>]*method="post".*?<\/form>/g)].map(([form]) => form);
    expect(forms.every((form) => /name="csrf"/.test(form))).toBe(true);
  });

  it('has unique ids', () => {
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is small enough to load under 100 kB with its files', () => {
    expect(Buffer.byteLength(html)).toBeLessThan(40_000);
  });
});
