import { createSeenDeliveries } from '../../workflows/deliveries/seen-deliveries.ts';
import { newState, serializeState } from '../../workflows/export-site/state.ts';
import type { ExportSiteInput } from '../../workflows/export-site.ts';
import type { SiteLinks } from './admin-api.ts';

/** Version and job that the bench's Admin API gives every site. */
const VERSION = 'v1';

/** The input of a site that continues as new: its export is deployed, with this link in its values file. */
export function deployedSite(site: string, valuesFile: string, link: SiteLinks): ExportSiteInput {
  const nowMs = Date.now();
  const at = new Date(nowMs).toISOString();
  const job = { jobId: site, version: VERSION, exportedAt: at, createdAt: at };
  const carry = serializeState(
    {
      ...newState(nowMs),
      live: { ...job, rolledBack: false },
      newest: job,
      jobs: [{ jobId: site, version: VERSION, exportedAt: at }],
      links: [
        {
          ...{ jobId: site, expiresAt: new Date(link.expiresAtMs).toISOString(), obtainedAtMs: nowMs },
          ...{ lifetimeMs: link.expiresAtMs - nowMs, failures: 0, notBeforeMs: 0 },
        },
      ],
      targets: [
        {
          ...{ valuesFile, jobId: site, version: VERSION, updatedAt: at, pin: null, held: false, off: false },
          ...{ searchedPin: null, searchAgainAtMs: null, error: null, failedAt: null, failures: 0, retryAtMs: null },
        },
      ],
    },
    createSeenDeliveries(),
  );
  return { site, carry };
}
