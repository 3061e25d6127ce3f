import { crawledPages } from '../../store/crawl-answers.ts';
import { addNotices } from '../../store/crawl-notices.ts';
import { type FoundUrl, settleUrls } from '../../store/frontier.ts';
import { lively } from '../lively.ts';
import { BrowserGone } from './browser/browser-pool.ts';
import { chooseSamples } from './browser/choose-samples.ts';
import { BROWSER_MISSING } from './browser/find-browser.ts';
import { createNotices } from './browser/notices.ts';
import { openSiteInBrowser } from './browser/open-site.ts';
import { type ShowDeps, showPage } from './browser/show-page.ts';
import { answerFromCrawl } from './browser/stored-answers.ts';
import { tryPage } from './browser/try-sample.ts';
import { createAdmission } from './crawl/admission.ts';
import type { ExportDeps } from './export-deps.ts';
import { errorMessage } from './fetch/error-code.ts';
import type { Resource } from './page/types.ts';
import { originUrl } from './page/url-identity.ts';
import { readCrawl } from './read-crawl.ts';

export type VisitedSamples = { sampleCount: number; foundCount: number };

/** Pages that samples are chosen from. */
const MAX_CANDIDATES = 5_000;

/**
 * Lets a browser visit pages of a finished crawl, and puts in line what their scripts asked for and the crawl didn't
 * have. The visit costs the origin only that: the rest is answered from what the crawl stored. Where there is no
 * browser the report says so, and the export goes on.
 */
export async function visitSamples(deps: ExportDeps, jobId: string): Promise<VisitedSamples> {
  const { db, limits, logger, browser } = deps;
  let sampleCount = 0;
  const details = () => ({ samples: sampleCount });
  return lively({ details, logger }, async ({ signal }) => {
    const crawl = await readCrawl(db, jobId);
    if (crawl.phase !== 'crawling') return { sampleCount, foundCount: 0 };
    const { settings } = crawl;
    const trouble = browser === undefined ? BROWSER_MISSING : await browser.trouble();
    if (browser === undefined || trouble !== undefined) {
      const text = `no sample pages were visited (discover: browser): ${trouble}`;
      await addNotices(db, { jobId, url: null, texts: [text] });
      return { sampleCount, foundCount: 0 };
    }
    const pages = chooseSamples(await crawledPages(db, jobId, MAX_CANDIDATES), browser.limits.maxSamples);
    const fetcher = deps.fetcherFor(settings);
    const { maxBufferedBytes, maxFileBytes: maxBytes } = limits;
    const { segments, guardFor } = deps;
    const { site } = settings;
    const fetch = answerFromCrawl({ db, segments, jobId, site, maxBufferedBytes, fetch: fetcher.get });
    const shown = await openSiteInBrowser({ pool: browser, guard: guardFor(settings), site, fetch, maxBytes, logger });
    const admission = createAdmission({
      settings,
      limits,
      urlCount: crawl.urlCount,
      variants: new Map(),
      skips: new Map(),
    });
    const found = new Map<string, FoundUrl>();

    async function visitOne(url: string): Promise<void> {
      for (const resource of await visitPage(shown, url, signal)) {
        const next = admission.admit(resource, { url, depth: 0 });
        if (next !== undefined && !found.has(next.url)) found.set(next.url, next);
      }
      sampleCount += 1;
    }

    try {
      await Promise.all(pages.map(visitOne));
    } finally {
      await shown.close();
      void fetcher.close();
    }
    const inLine = [...found.values()].sort((a, b) => (a.url < b.url ? -1 : 1));
    const settled = await settleUrls(db, { jobId, token: '', leaseMs: limits.leaseMs, settled: [], found: inLine });
    const foundCount = Math.max(0, (settled?.urlCount ?? 0) - crawl.urlCount);
    logger.info({ jobId, sampleCount, foundCount }, 'Sample pages were visited in a browser');
    return { sampleCount, foundCount };
  });

  /** What one page asked for. A page that can't be visited is left out, and the report says so. */
  async function visitPage(shown: ShowDeps, url: string, signal: AbortSignal): Promise<Resource[]> {
    const { loadTimeoutMs, quietTimeoutMs, sampleMs, maxTries } = shown.pool.limits;
    const address = originUrl(url, shown.site);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await shown.fetch(new URL(address), { signal });
        if (answer.kind !== 'response') return [];
        const { status, contentType, body } = answer;
        return await showPage(
          shown,
          {
            document: { url: address, status, contentType, body },
            // What a page does in vain on a visit is no news of the export.
            notices: createNotices(),
            signal,
            timeoutMs: loadTimeoutMs + quietTimeoutMs + 2 * sampleMs,
          },
          async (page) => {
            await tryPage(page, Date.now() + sampleMs);
            return page.requests.requested();
          },
        );
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof BrowserGone && attempt < maxTries) continue;
        const text = `could not be visited in a browser: ${errorMessage(error).split('\n')[0]}`;
        await addNotices(db, { jobId, url, texts: [text] });
        return [];
      }
    }
  }
}
