import type { FetchResult } from '../fetch/fetch-result.ts';
import type { Fetcher } from '../ports.ts';
import type { AnswerMemory } from '../render/answer-memory.ts';

/** Whether another reader of the same export may be given this answer. */
function isLasting(result: FetchResult): boolean {
  return result.kind === 'redirect' || (result.kind === 'response' && result.status === 200);
}

/**
 * A fetcher that takes what is at hand of an export's answers, and puts there what it brings. What one page's browser
 * asked for serves the next page and the crawl itself, so drawing pages doesn't ask the origin again and again. Those
 * that ask for the same at once share one request.
 */
export function rememberAnswers(fetcher: Fetcher, memory: AnswerMemory, jobId: string): Fetcher {
  const underWay = new Map<string, Promise<FetchResult>>();

  return {
    ...fetcher,

    async get(url, options) {
      const key = `${jobId} ${url.href}`;
      const found = memory.recall(key);
      if (found !== undefined) return found;
      const asked = underWay.get(key);
      if (asked !== undefined) {
        const shared = await asked.catch(() => undefined);
        if (shared !== undefined && isLasting(shared)) return shared;
      }
      const asking = fetcher.get(url, options);
      underWay.set(key, asking);
      try {
        const result = await asking;
        if (isLasting(result)) memory.remember(key, result);
        return result;
      } finally {
        if (underWay.get(key) === asking) underWay.delete(key);
      }
    },
  };
}
