import { readFileSync } from 'node:fs';
import { MAX_FOLDERS, MAX_YEARS_AHEAD, MAX_YEARS_BACK } from '../../platform/activities/export/crawl/endless-paths.ts';
import { retryDelayMs } from '../../platform/activities/export/crawl/retry-delay.ts';
import { SKIP_RULES } from '../../platform/activities/export/crawl/skip-rules.ts';
import { MAX_CRAWL_DELAY_MS } from '../../platform/activities/export/discovery/robots.ts';
import {
  type FetchFailure,
  failureOfLateness,
  failureOfStatus,
} from '../../platform/activities/export/fetch/failure.ts';
import { DEFAULT_LIMITS } from '../../platform/activities/export/limits.ts';

const page = readFileSync('docs/reference/crawl-rules.md', 'utf8').replaceAll(/\s+/g, ' ');

function triesOf(failure: FetchFailure): number {
  let tries = 1;
  while (retryDelayMs(failure, tries, DEFAULT_LIMITS.maxAttempts) !== undefined) tries += 1;
  return tries;
}

describe('the page of the crawl rules', () => {
  it('names every rule of the report, and no other', () => {
    const named = [...page.matchAll(/\| `([a-z]+)` \|/g)].map(([, rule]) => rule);
    expect(named).toEqual(SKIP_RULES);
  });

  it.each([
    ['depth', `${DEFAULT_LIMITS.maxDepth.toLocaleString('en')}`],
    ['folders', `${MAX_FOLDERS}`],
    ['dates', `${MAX_YEARS_AHEAD} years`],
    ['queries', `${DEFAULT_LIMITS.maxQueryVariants}`],
    ['addresses', DEFAULT_LIMITS.maxUrls.toLocaleString('en')],
  ])('tells the bound of %s', (rule, bound) => {
    expect(page).toMatch(new RegExp(`\\| \`${rule}\` \\|[^|]*\\| ${bound} \\|`));
  });

  it('tells how far calendars go back', () => {
    expect(page).toContain(`more than ${MAX_YEARS_BACK} years ago`);
  });

  it('tells the bounds of speed, time and size', () => {
    const { initialConcurrency, maxConcurrency, requestTimeoutMs, maxFileBytes } = DEFAULT_LIMITS;
    expect(page).toContain(
      `begins with ${initialConcurrency} and grows while answers take no longer, up to ${maxConcurrency} `,
    );
    expect(page).toContain(`no whole answer within ${requestTimeoutMs / 1000} seconds`);
    expect(page).toContain(`larger than ${maxFileBytes / 1024 ** 3} GiB`);
    expect(page).toContain(
      `More than ${MAX_CRAWL_DELAY_MS / 1000} seconds are taken for ${MAX_CRAWL_DELAY_MS / 1000}.`,
    );
  });

  it('tells the number of tries', () => {
    expect(page).toContain(
      `429, 503, a refused, reset or cut connection | ${triesOf(failureOfStatus(503, undefined))} |`,
    );
    expect(page).toContain(`520 to 524 | ${triesOf(failureOfStatus(500, undefined))} |`);
    expect(page).toContain(`seconds | ${triesOf(failureOfLateness(60_000))} |`);
    expect(page).toContain(`a refused address | ${triesOf(failureOfStatus(404, undefined))} |`);
  });
});
