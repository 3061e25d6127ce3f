import type { SiteStatus } from '../../../api/site-status.ts';
import {
  type DeliveryRecord,
  type DeploymentState,
  type ExportRecord,
  idleSiteState,
} from '../../../contract/site-state.ts';

export const NOW = new Date('2026-11-21T10:30:00Z');

/** The time `seconds` before NOW. */
export function ago(seconds: number): string {
  return new Date(NOW.getTime() - seconds * 1000).toISOString();
}

export function exportRecord(number: number, changes: Partial<ExportRecord> = {}): ExportRecord {
  const startSeconds = (12 - number) * 7_200 + 900;
  return {
    number,
    jobId: `se_${number.toString(16).padStart(16, '0')}`,
    version: `2026-11-21.${number}`,
    trigger: 'publish',
    publishCount: number % 4 === 0 ? 3 : 1,
    title: `Release notes ${number}`,
    author: 'Ada',
    requestedAt: ago(startSeconds + 5),
    startedAt: ago(startSeconds),
    exportedAt: ago(startSeconds - 42),
    writtenAt: ago(startSeconds - 44),
    servedAt: number % 2 === 0 ? ago(startSeconds - 49) : null,
    endedAt: ago(startSeconds - 44),
    rolledBackAt: null,
    outcome: number % 2 === 0 ? 'served' : 'written',
    error: null,
    pageCount: 1_204 + number,
    ...changes,
  };
}

function delivery(index: number): DeliveryRecord {
  return {
    id: `0d1c9a6e-${index}`,
    source: 'contentful',
    at: ago(900 + index * 3_600),
    outcome: index % 5 === 3 ? 'filtered' : index % 3 === 1 ? 'coalesced' : 'started',
    workflowId: index % 5 === 3 ? null : 'export:handbook',
    topic: 'ContentManagement.Entry.publish',
    title: `Release notes ${Math.max(1, 12 - index)}`,
    author: 'Ada',
    action: 'publish',
    ...(index % 5 === 3 ? { why: 'no rule of `only` matches' } : { exportNumber: Math.max(1, 12 - index) }),
  };
}

/** A deployment that has an export, by its number. */
export function deployment(number: number, changes: Partial<DeploymentState> = {}): DeploymentState {
  const { jobId, version } = exportRecord(number);
  return {
    name: 'deploy/values.yaml',
    kind: 'valuesFile',
    wave: 1,
    state: 'live',
    jobId,
    version,
    desired: { jobId, version, reason: 'newest' },
    writtenAt: ago(856),
    servedAt: null,
    confirmed: null,
    linkExpiresAt: ago(-85_000),
    pin: null,
    off: false,
    error: null,
    url: null,
    proposal: null,
    ...changes,
  };
}

/** A site with entries in each of its lists. */
export function siteStatus(changes: Partial<SiteStatus> = {}): SiteStatus {
  return {
    ...idleSiteState('handbook', []),
    phase: 'live',
    jobId: 'se_000000000000000c',
    version: '2026-11-21.12',
    linkExpiresAt: ago(-85_000),
    exportedAt: ago(858),
    nextRefreshAt: ago(-68_000),
    deployments: [
      deployment(12),
      deployment(10, {
        ...{ name: 'eu', state: 'held', pin: '2026-11-21.10', writtenAt: ago(7_300), url: 'https://eu.example.com' },
        desired: { jobId: exportRecord(10).jobId, version: '2026-11-21.10', reason: 'pinned' },
      }),
    ],
    deliveries: Array.from({ length: 40 }, (_each, index) => delivery(index)),
    exports: Array.from({ length: 12 }, (_each, index) =>
      exportRecord(
        12 - index,
        index === 4
          ? { outcome: 'failed', writtenAt: null, servedAt: null, error: 'the origin responds with 503' }
          : {},
      ),
    ),
    refreshes: [
      { at: ago(120), version: '2026-11-21.12', expiresAt: ago(-85_000), error: null },
      { at: ago(400), version: '2026-11-21.12', expiresAt: ago(-84_000), error: 'the Admin API responds with 503' },
      { at: ago(600), version: '2026-11-21.12', expiresAt: ago(-84_000), error: null },
    ],
    actions: [
      { at: ago(4_000), actor: 'Grace', action: 'resume', detail: null, error: null },
      { at: ago(5_000), actor: 'Grace', action: 'pause', detail: null, error: null },
      { at: ago(90_000), actor: 'Ada', action: 'rollback', detail: '2026-11-21.2', error: 'that version is gone' },
    ],
    current: true,
    rejected: [{ source: 'contentful', reason: 'the signature is wrong', count: 3, lastAt: ago(1_000) }],
    ...changes,
  };
}
