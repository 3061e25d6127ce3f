import type { FakeLink } from '../../test/helpers/admin-api/fake-admin-api.ts';
import { createSeenDeliveries } from '../../workflows/deliveries/seen-deliveries.ts';
import { newState, serializeState } from '../../workflows/export-site/state.ts';
import type { ExportSiteInput } from '../../workflows/export-site.ts';

/** The input after a continue-as-new of a site whose export is deployed with this link. */
export function deployedSite(site: string, valuesFile: string, link: FakeLink): ExportSiteInput {
  const nowMs = Date.now();
  const at = new Date(nowMs).toISOString();
  const { jobId, version } = link.job;
  const job = { jobId, version, exportedAt: at, createdAt: at };
  const carry = serializeState(
    {
      ...newState(nowMs),
      live: { ...job, rolledBack: false },
      newest: job,
      jobs: [{ jobId, version, exportedAt: at }],
      links: [
        {
          ...{ jobId, expiresAt: new Date(link.expiresAtMs).toISOString(), obtainedAtMs: nowMs },
          ...{ lifetimeMs: link.expiresAtMs - nowMs, failures: 0, notBeforeMs: 0 },
        },
      ],
      targets: [
        {
          ...{ valuesFile, kind: 'valuesFile', host: null, writing: false },
          ...{ jobId, version, updatedAt: at, pin: null, held: false, off: false },
          ...{
            searchedPin: null,
            searchAgainAtMs: null,
            confirmation: null,
            error: null,
            failedAt: null,
            failures: 0,
            retryAtMs: null,
          },
        },
      ],
    },
    createSeenDeliveries(),
  );
  return { site, carry };
}
