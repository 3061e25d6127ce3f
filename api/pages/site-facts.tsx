import { figuresOf, type SiteFigures } from '../../contract/site-figures.ts';
import { SHOWN_FIELDS } from '../../contract/site-state.ts';
import { startPlaceText, UNSERVED_WORDS } from '../../contract/site-words.ts';
import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { None } from '../../ui/components/none.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import type { SiteStatus } from '../site-status.ts';

/** What is served now, and what comes next. */
export function SiteFacts({ status, now }: { status: SiteStatus; now: Date }) {
  const { progress, deliveries, oldestUnserved, guardsNotChecked = [], startPlace } = status;
  const lastPublish = deliveries.find(({ workflowId }) => workflowId !== null);
  const figures = figuresOf(status.exports, now.getTime());
  return (
    <DefinitionList
      items={[
        ...SHOWN_FIELDS.map((shown) => ({ term: shown.label, value: fieldValue(shown, status, now) })),
        { term: 'Oldest not served', value: <OldestUnserved oldest={oldestUnserved} now={now} /> },
        { term: 'Last publish', value: <RelativeTime at={lastPublish?.at} now={now} none="unknown" /> },
        { term: 'From publish to served', value: <PublishToServed figures={figures} /> },
        { term: 'Failed exports', value: <Failures figures={figures} now={now} /> },
        ...(guardsNotChecked.length === 0
          ? []
          : [{ term: 'Guards', value: `not checked: ${guardsNotChecked.join(', ')}` }]),
        ...(startPlace ? [{ term: 'Start', value: startPlaceText(startPlace) }] : []),
        ...(progress === null ? [] : [{ term: 'Progress', value: progressText(progress) }]),
      ]}
    />
  );
}

export function OldestUnserved({ oldest, now }: { oldest: SiteStatus['oldestUnserved']; now: Date }) {
  if (oldest === null) return <None>no publish</None>;
  return (
    <>
      <RelativeTime at={oldest.at} now={now} />
      <div class="soft small">{UNSERVED_WORDS[oldest.reason]}</div>
    </>
  );
}

/** The time that half of the publishes took, and 95 % of them. */
export function PublishToServed({ figures }: { figures: SiteFigures | null }) {
  if (figures === null || figures.medianMs === null || figures.p95Ms === null) return <None />;
  return (
    <>
      {formatDuration(figures.medianMs)}
      <div class="soft small">{`95 %: ${formatDuration(figures.p95Ms)}`}</div>
    </>
  );
}

/** How often it failed, and since when that is known. */
export function Failures({ figures, now }: { figures: SiteFigures | null; now: Date }) {
  if (figures === null) return <None />;
  return (
    <>
      {`${figures.failed} of ${figures.exports}`}
      <div class="soft small">
        since <RelativeTime at={figures.since} now={now} />
      </div>
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

export function Version({ children }: { children: string | null }) {
  return children === null ? <None /> : <span class="mono">{children}</span>;
}

function progressText({ percent, pageCount }: NonNullable<SiteStatus['progress']>): string {
  const parts = [
    percent === null ? undefined : `${Math.floor(percent)} %`,
    pageCount === null ? undefined : formatCount(pageCount, 'page'),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}
