import { startHttpSite } from '../helpers/http-site.ts';
import type { TemporalFixture } from './use-temporal.ts';

/** The status endpoint of a deployment that reports the version in `serving`. */
export async function startStatus(closeLater: TemporalFixture['closeLater']) {
  const authorizations: (string | undefined)[] = [];
  const serving: { version: string | null } = { version: null };
  const site = await startHttpSite((request, response) => {
    authorizations.push(request.headers.authorization);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ state: 'serving', version: serving.version }));
  });
  closeLater({ close: site.close, workflowIds: () => [] });
  return { ...site, serving, authorizations, host: new URL(site.origin).host };
}
