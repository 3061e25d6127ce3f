import { HttpError } from '../web/http-error.ts';
import type { ReceiverMetrics } from './metrics.ts';
import type { ReceiverDeps } from './receive.ts';
import type { RecentDeliveries } from './recent-deliveries.ts';
import type { SourcedDelivery } from './webhooks/configured-source.ts';

/** The metrics count the same body within this time as a repeat. The workflow decides by itself. */
const REPEATED_BODY_MS = 60_000;

type ObserverDeps = { metrics: ReceiverMetrics; recent: RecentDeliveries };

/** Counts every verified delivery and adds it to the recent ones. */
export function observeDeliveries({ metrics, recent }: ObserverDeps): ReceiverDeps['onOutcome'] {
  return ({ site, ref, parsed }, outcome) => {
    const labels = { site, source: ref.source };
    const record = { id: ref.id, source: ref.source, at: ref.receivedAt, topic: topicOf(parsed) };
    const repeatMs = ref.byBody ? REPEATED_BODY_MS : ref.dedupeMs;
    if (outcome.kind === 'failed') {
      metrics.delivery({ ...labels, outcome: 'unavailable' });
      const why = failureOf(outcome.error);
      recent.add(site, { ...record, outcome: 'verified', workflowId: null, why }, repeatMs);
      return;
    }
    const [workflowId] = outcome.workflowIds;
    if (workflowId === undefined) {
      metrics.delivery({ ...labels, outcome: 'filtered' });
      const why = whyFiltered(parsed);
      recent.add(site, { ...record, outcome: 'filtered', workflowId: null, why }, repeatMs);
      return;
    }
    metrics.delivery({ ...labels, outcome: 'accepted' });
    const before = recent.add(site, { ...record, outcome: 'verified', workflowId }, repeatMs);
    if (before === 'repeated') metrics.repeat(labels);
  };
}

/** The sender's own name of the event, if it has one. */
function topicOf(parsed: SourcedDelivery): string {
  switch (parsed.kind) {
    case 'publish':
      return parsed.event.topic;
    case 'filtered':
      return parsed.topic;
    case 'pull-request':
    case 'review':
      return parsed.kind;
  }
}

function whyFiltered(parsed: SourcedDelivery): string {
  return parsed.kind === 'filtered' ? parsed.why : 'no agent change of this site waits for this pull request';
}

function failureOf(error: unknown): string {
  const { status, message } = error instanceof HttpError ? error : { status: 500, message: 'internal error' };
  return `answered ${status}: ${message}`;
}
