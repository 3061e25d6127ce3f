import type { FakeLink } from '../../test/helpers/admin-api/fake-admin-api.ts';
import { createSeenDeliveries } from '../../workflows/deliveries/seen-deliveries.ts';
import { newState, serializeState } from '../../workflows/export-site/state.ts';
import type { ExportSiteInput } from '../../workflows/export-site.ts';

/** The input after a continue-as-new of a site whose export is deployed with this link. */
export function deployedSite(site: string, valuesFile: string, link: FakeLink): ExportSiteInput {
  const nowMs = Date.now();
  const at = new Date(nowMs).toISOString();
  const { jobId, version } = link.job;
  const held = {
    expiresAt: new Date(link.expiresAtMs).toISOString(),
    ...{ obtainedAtMs: nowMs, lifetimeMs: link.expiresAtMs - nowMs },
  };
  const carry = serializeState(
    {
      ...newState(nowMs),
      jobs: [{ jobId, version, domain: null, createdAt: at, exportedAt: at, upTo: 0, oldestPublishMs: null }],
      newest: jobId,
      deployments: [
        {
          ...{
            place: valuesFile,
            name: valuesFile,
            kind: 'valuesFile',
            host: null,
            wave: 1,
            approve: false,
            url: null,
          },
          ...{ confirm: null, pin: null, off: false, approved: null, rejected: null, withheld: null },
          fence: { epoch: 0, sequence: 1, takeover: null },
          begun: jobId,
          written: { jobId, version, at, tookMs: 0, link: held, bundlePath: null },
          ...{ proposed: null, answer: null, lastGood: jobId, trouble: null, pinSearch: null },
        },
      ],
    },
    createSeenDeliveries(),
  );
  return { site, carry };
}
