import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import type { SiteStatus } from '../site-status.ts';
import { Version } from './site-list-page.tsx';

/** What is served now, and what comes next. */
export function SiteFacts({ status, now }: { status: SiteStatus; now: Date }) {
  const { version, exportedAt, linkExpiresAt, nextRefreshAt, pendingCount, progress, deliveries } = status;
  const lastPublish = deliveries.find(({ workflowId }) => workflowId !== null);
  const servedMs = publishToServedMs(status);
  return (
    <DefinitionList
      items={[
        { term: 'Version', value: <Version>{version}</Version> },
        { term: 'Exported', value: <RelativeTime at={exportedAt} now={now} none="never" /> },
        { term: 'Last publish', value: <RelativeTime at={lastPublish?.at} now={now} none="unknown" /> },
        ...(servedMs === undefined ? [] : [{ term: 'From publish to served', value: formatDuration(servedMs) }]),
        { term: 'Link expires', value: <RelativeTime at={linkExpiresAt} now={now} /> },
        { term: 'Next refresh', value: <RelativeTime at={nextRefreshAt} now={now} /> },
        {
          term: 'Waiting',
          value: pendingCount === 0 ? 'no publishes' : formatCount(pendingCount, 'publish', 'publishes'),
        },
        ...(progress === null ? [] : [{ term: 'Progress', value: progressText(progress) }]),
      ]}
    />
  );
}

/** Of the newest export that a deployment's status has confirmed. */
function publishToServedMs({ exports }: SiteStatus): number | undefined {
  const record = exports.find(({ servedAt }) => servedAt !== null);
  if (record === undefined || record.servedAt === null) return undefined;
  return Date.parse(record.servedAt) - Date.parse(record.requestedAt);
}

function progressText({ percent, pageCount }: NonNullable<SiteStatus['progress']>): string {
  const parts = [
    percent === null ? undefined : `${Math.floor(percent)} %`,
    pageCount === null ? undefined : formatCount(pageCount, 'page'),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}
