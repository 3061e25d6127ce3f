import type { RefreshRecord } from '../../contract/site-state.ts';
import { StageList } from '../../ui/components/stage-list.tsx';
import { formatDuration, formatRelative } from '../../ui/format.ts';
import { type StageName, stageWidths, type Timeline, type TimelineStage } from './timeline.ts';

const STAGE_LABELS: Record<StageName, string> = {
  quiet: 'Quiet period',
  export: 'Export',
  deploy: 'Deploy',
  served: 'Served',
};

type PictureProps = { timeline: Timeline; now: Date };

/** `10:04:09`; with the day if it isn't today. */
function clock(atMs: number, now: Date): string {
  const iso = new Date(atMs).toISOString();
  const day = iso.slice(0, 10) === now.toISOString().slice(0, 10) ? '' : `${iso.slice(5, 10)} `;
  return `${day}${iso.slice(11, 19)}`;
}

/** How long a stage took, or takes so far. */
function stageTime({ status, fromMs, toMs }: TimelineStage, now: Date): string {
  if (fromMs === null) return status === 'waiting' ? 'not yet' : '';
  const text = formatDuration((toMs ?? now.getTime()) - fromMs);
  if (status === 'failed') return `stopped after ${text}`;
  return status === 'running' ? `${text} so far` : text;
}

/** The picture's text for screen readers; the list beneath has the details. */
function summaryOf({ stages }: Timeline, now: Date): string {
  return stages.map((stage) => `${STAGE_LABELS[stage.name]}: ${stageTime(stage, now)}`).join('; ');
}

const WIDTH = 1000;
const BAR_Y = 34;
const BAR_HEIGHT = 14;

/** Draws the timeline from left to right, for wide screens. */
export function WideTimeline({ timeline, now }: PictureProps) {
  const { stages, refreshes } = timeline;
  const widths = stageWidths(stages, now.getTime()).map((share) => share * WIDTH);
  const starts = widths.map((_width, index) => widths.slice(0, index).reduce((sum, width) => sum + width, 0));
  return (
    <svg class="timeline wide" viewBox={`0 0 ${WIDTH} 84`} role="img" aria-label={summaryOf(timeline, now)}>
      {stages.map((stage, index) => {
        const [x = 0, width = 0] = [starts[index], widths[index]];
        return (
          <g key={stage.name} data-stage={stage.name} data-status={stage.status}>
            <text class="stage-name" x={x + 2} y="22">
              {STAGE_LABELS[stage.name]}
            </text>
            <rect class="bar" x={x} y={BAR_Y} width={Math.max(0, width - 5)} height={BAR_HEIGHT} rx="7" />
            <text x={x + 2} y="66">
              {stageTime(stage, now)}
            </text>
            {stage.fromMs !== null && (
              <text x={x + 2} y="82">
                {clock(stage.fromMs, now)}
              </text>
            )}
            {stage.name === 'served' &&
              refreshMarks(stage, refreshes, now).map(({ share, failed }) => (
                <circle
                  key={share}
                  class="refresh"
                  data-failed={failed}
                  cx={x + 7 + share * Math.max(0, width - 19)}
                  cy={BAR_Y + BAR_HEIGHT / 2}
                  r="4"
                />
              ))}
          </g>
        );
      })}
    </svg>
  );
}

const ROW_HEIGHT = 52;

/** Draws the timeline from top to bottom, for phones. */
export function TallTimeline({ timeline, now }: PictureProps) {
  const { stages, refreshes } = timeline;
  return (
    <svg
      class="timeline tall"
      viewBox={`0 0 320 ${stages.length * ROW_HEIGHT}`}
      role="img"
      aria-label={summaryOf(timeline, now)}
    >
      {stages.map((stage, index) => {
        const y = index * ROW_HEIGHT;
        return (
          <g key={stage.name} data-stage={stage.name} data-status={stage.status}>
            <rect class="bar" x="2" y={y} width="12" height={ROW_HEIGHT - 4} rx="6" />
            <text class="stage-name" x="28" y={y + 19}>
              {STAGE_LABELS[stage.name]}
            </text>
            <text x="28" y={y + 38}>
              {stageTime(stage, now)}
            </text>
            {stage.fromMs !== null && (
              <text class="clock end" x="318" y={y + 19}>
                {clock(stage.fromMs, now)}
              </text>
            )}
            {stage.name === 'served' &&
              refreshMarks(stage, refreshes, now).map(({ share, failed }) => (
                <circle key={share} class="refresh" data-failed={failed} cx="8" cy={y + 6 + share * 36} r="3.5" />
              ))}
          </g>
        );
      })}
    </svg>
  );
}

/** Says where the refreshes are within the served stage, from 0 to 1. */
function refreshMarks(
  { fromMs, toMs }: TimelineStage,
  refreshes: readonly RefreshRecord[],
  now: Date,
): { share: number; failed: boolean }[] {
  if (fromMs === null) return [];
  const lengthMs = Math.max(1, (toMs ?? now.getTime()) - fromMs);
  return refreshes.map(({ at, error }) => ({
    share: Math.min(1, Math.max(0, (Date.parse(at) - fromMs) / lengthMs)),
    failed: error !== null,
  }));
}

/** What happened, in words and with times. */
export function TimelineList({ timeline, now }: PictureProps) {
  const { stages, refreshes, end } = timeline;
  const nameOf = ({ name, status }: TimelineStage): string =>
    name === 'served' && status === 'ended' && end === 'rolled-back'
      ? 'Served until it was rolled back'
      : EVENTS[name][status];
  return (
    <StageList
      items={[
        ...stages.map((stage) => ({
          ...{ key: stage.name, kind: stage.name, status: stage.status, name: nameOf(stage) },
          times: stage.fromMs === null ? undefined : <StageTimes stage={stage} fromMs={stage.fromMs} now={now} />,
        })),
        ...refreshes.map(({ at, error }) => ({
          ...{ key: at, kind: 'refresh' as const, status: error === null ? ('ended' as const) : ('failed' as const) },
          name: error === null ? 'Link refreshed' : `Refresh failed: ${error}`,
          times: <time dateTime={at}>{clock(Date.parse(at), now)}</time>,
        })),
      ]}
    />
  );
}

const EVENTS: Record<StageName, Record<TimelineStage['status'], string>> = {
  quiet: { ended: 'Delivered', running: 'Waiting for more deliveries', failed: 'Delivered', waiting: 'Not delivered' },
  export: { ended: 'Exported', running: 'Exporting', failed: 'Export stopped', waiting: 'Export' },
  deploy: { ended: 'Deployed', running: 'Deploying', failed: 'Deploying stopped', waiting: 'Deploy' },
  served: { ended: 'Served until the next version', running: 'Served', failed: 'Served', waiting: 'Served' },
};

function StageTimes({ stage, fromMs, now }: { stage: TimelineStage; fromMs: number; now: Date }) {
  const at = new Date(fromMs);
  return (
    <>
      <time dateTime={at.toISOString()}>{clock(fromMs, now)}</time>
      {stage.status === 'running' ? `, ${formatRelative(at, now)}` : `, ${stageTime(stage, now)}`}
    </>
  );
}
