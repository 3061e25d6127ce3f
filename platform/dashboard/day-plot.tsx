import { FIGURE_DAYS } from '../../contract/site-figures.ts';
import { Table } from '../../ui/components/table.tsx';
import { formatCount } from '../../ui/format.ts';
import type { Figures } from '../store/overview-figures.ts';

const WIDTH = 480;
const HEIGHT = 96;
const BAR = WIDTH / FIGURE_DAYS;
const DAY_MS = 86_400_000;

type Day = { date: string; completed: number; failed: number };

/** The days of the figures, the oldest first, with those on which nothing ended. */
export function daysOf({ days }: Pick<Figures, 'days'>, now: Date): Day[] {
  return Array.from({ length: FIGURE_DAYS }, (_each, index) => {
    const ago = FIGURE_DAYS - 1 - index;
    const date = new Date(now.getTime() - ago * DAY_MS).toISOString().slice(0, 10);
    return { date, ...(days.get(ago) ?? { completed: 0, failed: 0 }) };
  });
}

type PlotProps = {
  /** What is counted, such as `exports`. */
  label: string;
  /** What the upper part of a bar counts. */
  failedLabel: string;
  figures: Figures;
  now: Date;
};

/** A bar for each day, as high as the busiest day allows; the same numbers are in a table below. */
export function DayPlot({ label, failedLabel, figures, now }: PlotProps) {
  const days = daysOf(figures, now);
  const most = Math.max(1, ...days.map(({ completed, failed }) => completed + failed));
  const heightOf = (count: number) => (count / most) * HEIGHT;
  const total = days.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
  const wordsOf = ({ date, completed, failed }: Day) =>
    `${date}: ${completed} completed, ${failed} ${failedLabel.toLowerCase()}`;
  return (
    <>
      <div class="panel-head soft small">
        <span>Per day, the most: {most}</span>
        <span class="legend">
          <span data-kind="completed">Completed</span> <span data-kind="failed">{failedLabel}</span>
        </span>
      </div>
      <svg
        class="plot"
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 1}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label} of ${FIGURE_DAYS} days: ${total}, at most ${most} per day`}
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
        {days.map((day, index) => (
          <g key={day.date}>
            <title>{wordsOf(day)}</title>
            <rect class="day" x={index * BAR} y="0" width={BAR} height={HEIGHT} />
            <rect
              x={index * BAR + 2}
              y={HEIGHT - heightOf(day.completed)}
              width={BAR - 4}
              height={heightOf(day.completed)}
            />
            <rect
              data-kind="failed"
              x={index * BAR + 2}
              y={HEIGHT - heightOf(day.completed + day.failed)}
              width={BAR - 4}
              height={heightOf(day.failed)}
            />
          </g>
        ))}
      </svg>
      <div class="panel-head soft small">
        <span>{days[0]?.date}</span>
        <span>today (UTC)</span>
      </div>
      <details>
        <summary>{formatCount(total, label.toLowerCase().replace(/s$/, ''))} as a table</summary>
        <Table
          caption={`${label} per day`}
          rows={days.filter(({ completed, failed }) => completed + failed > 0).reverse()}
          keyOf={({ date }) => date}
          columns={[
            { label: 'Day', kind: 'main', cell: ({ date }) => date },
            { label: 'Completed', kind: 'number', cell: ({ completed }) => completed },
            { label: failedLabel, kind: 'number', cell: ({ failed }) => failed },
          ]}
        />
      </details>
    </>
  );
}
