import { documentFormat } from '../document/document.ts';
import type { Fetcher } from '../ports.ts';
import { isOfSite, originUrl } from '../urls/identity.ts';
import { type RobotsSettings, robotsOf } from '../urls/robots.ts';
import { TWIN_FORMS, type TwinForm, twinUrl } from '../urls/twin-url.ts';
import type { Site } from '../urls/types.ts';

/** The pages that are tried. */
const MAX_TRIED = 5;

/**
 * Tries the first pages of a site for twins in Markdown: the form that all of them have, or null. `listed` gives the pages
 * of the sitemap, and is called only if the first page has a twin. Rejects only with the signal's reason.
 */
export async function findTwins(
  fetcher: Fetcher,
  settings: RobotsSettings & { site: Site; pages: readonly string[] | null },
  { listed, signal }: { listed: () => Promise<string[]>; signal: AbortSignal },
): Promise<TwinForm | null> {
  const { site, pages } = settings;
  const robots = robotsOf(settings);
  const [first = `https://${site.domain}/`, ...requested] = pages ?? [];
  const atFirst = await Promise.all(TWIN_FORMS.map((form) => hasTwin(first, form)));
  if (!atFirst.includes(true)) return null;
  const all = pages === null ? await listed() : requested;
  const others = [...new Set(all)].filter((url) => url !== first && isOfSite(url, site)).slice(0, MAX_TRIED - 1);
  for (const form of TWIN_FORMS.filter((_, index) => atFirst[index])) {
    const found = await Promise.all(others.map((page) => hasTwin(page, form)));
    if (found.every((each) => each)) return form;
  }
  return null;

  async function hasTwin(page: string, form: TwinForm): Promise<boolean> {
    const url = twinUrl(page, form);
    if (!robots.isAllowed(new URL(url).pathname)) return false;
    const fetched = await fetcher.get(new URL(originUrl(url, site)), { signal });
    signal.throwIfAborted();
    return fetched.kind === 'response' && documentFormat(fetched.contentType, url) === 'markdown';
  }
}
