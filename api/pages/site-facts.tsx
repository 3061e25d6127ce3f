import { SHOWN_FIELDS } from '../../contract/site-state.ts';
import { startPlaceText, UNSERVED_WORDS } from '../../contract/site-words.ts';
import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { None } from '../../ui/components/none.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import type { SiteStatus } from '../site-status.ts';
import { Version } from './site-list-page.tsx';

/** What is served now, and what comes next. */
export function SiteFacts({ status, now }: { status: SiteStatus; now: Date }) {
  const { progress, deliveries, oldestUnserved, guardsNotChecked = [], startPlace } = status;
  const lastPublish = deliveries.find(({ workflowId }) => workflowId !== null);
  const servedMs = publishToServedMs(status);
  return (
    <DefinitionList
      items={[
        ...SHOWN_FIELDS.map((shown) => ({ term: shown.label, value: fieldValue(shown, status, now) })),
        { term: 'Oldest not served', value: <OldestUnserved oldest={oldestUnserved} now={now} /> },
        { term: 'Last publish', value: <RelativeTime at={lastPublish?.at} now={now} none="unknown" /> },
        ...(servedMs === undefined ? [] : [{ term: 'From publish to served', value: formatDuration(servedMs) }]),
        ...(guardsNotChecked.length === 0
          ? []
          : [{ term: 'Guards', value: `not checked: ${guardsNotChecked.join(', ')}` }]),
        ...(startPlace ? [{ term: 'Start', value: startPlaceText(startPlace) }] : []),
        ...(progress === null ? [] : [{ term: 'Progress', value: progressText(progress) }]),
      ]}
    />
  );
}

function OldestUnserved({ oldest, now }: { oldest: SiteStatus['oldestUnserved']; now: Date }) {
  if (oldest === null) return <None>no publish</None>;
  return (
    <>
      <RelativeTime at={oldest.at} now={now} />
      <div class="soft small">{UNSERVED_WORDS[oldest.reason]}</div>
    </>
  );
}

function fieldValue(shown: (typeof SHOWN_FIELDS)[number], status: SiteStatus, now: Date) {
  switch (shown.type) {
    case 'version':
      return <Version>{status[shown.field]}</Version>;
    case 'time':
      return <RelativeTime at={status[shown.field]} now={now} />;
    case 'form':
      return status.form ? `form ${status.form}` : <None>not known yet</None>;
    case 'publishes':
      return status[shown.field] === 0 ? 'no publishes' : formatCount(status[shown.field], 'publish', 'publishes');
  }
}

/** How long the newest confirmed export took from publish to served. */
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
