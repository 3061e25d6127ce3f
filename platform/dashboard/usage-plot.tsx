import { Panel } from '../../ui/components/panel.tsx';
import type { HourlyUse } from '../store/hourly-use.ts';

export const PLOT_HOURS = 24;
const WIDTH = 480;
const HEIGHT = 96;
const BAR = WIDTH / PLOT_HOURS;

type PlotProps = {
  title: string;
  use: HourlyUse;
  limit: number;
  /** What the limit counts for. */
  note: string;
};

/** Uses in each of the last 24 hours, as bars below the line of the limit. */
export function UsagePlot({ title, use, limit, note }: PlotProps) {
  const hours = Array.from({ length: PLOT_HOURS }, (_each, index) => PLOT_HOURS - 1 - index);
  const now = use.get(0) ?? 0;
  const total = hours.reduce((sum, hour) => sum + (use.get(hour) ?? 0), 0);
  const label = `${title}: ${now} of ${limit} in the last hour, ${total} in the last ${PLOT_HOURS} hours`;
  const heightOf = (uses: number) => (uses === 0 ? 1 : Math.max(3, (Math.min(uses, limit) / limit) * (HEIGHT - 12)));
  return (
    <Panel
      title={title}
      aside={
        <span class="soft small">
          {now} of {limit} in the last hour, {note}
        </span>
      }
    >
      <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        <line class="limit" x1="0" x2={WIDTH} y1="12" y2="12" />
        {hours.map((hour, index) => {
          const uses = use.get(hour) ?? 0;
          return (
            <rect
              key={hour}
              data-full={uses >= limit ? 'true' : undefined}
              x={index * BAR + 2}
              y={HEIGHT - heightOf(uses)}
              width={BAR - 4}
              height={heightOf(uses)}
              rx="2"
            />
          );
        })}
      </svg>
      <div class="panel-head soft small">
        <span>24 h ago</span>
        <span>now</span>
      </div>
    </Panel>
  );
}
