import { writeFileSync } from 'node:fs';
import { HOUR_MS } from '../../../workflows/start-gate/queue.ts';
import { simulateWeek } from './simulate-week.ts';

/**
 * Draws docs/public/start-gate.svg: the starts of a simulated week, by time and by how long the oldest publish waited.
 * `node --import ./scripts/typescript.js test/workflows/start-gate/plot-week.ts`
 */
const [width, height, left, bottom] = [720, 260, 50, 30];
const { starts } = simulateWeek({ sites: 50, startsPerHour: 10, seed: 1 });
const x = (atMs: number): number => left + (atMs / (7.5 * 24 * HOUR_MS)) * (width - left - 10);
const y = (hours: number): number => height - bottom - (hours / 6) * (height - bottom - 20);

const lines = [0, 1, 2, 3, 4, 5].map(
  (hours) =>
    `<line x1="${left}" x2="${width - 10}" y1="${y(hours)}" y2="${y(hours)}" stroke="${hours === 5 ? '#c33' : '#8886'}"/>` +
    `<text x="${left - 8}" y="${y(hours) + 4}" text-anchor="end">${hours} h</text>`,
);
const days = Array.from({ length: 7 }, (_, day) => {
  return `<text x="${x((day + 0.5) * 24 * HOUR_MS)}" y="${height - 8}" text-anchor="middle">day ${day + 1}</text>`;
});
const dots = starts.map(
  ({ atMs, waitMs }) => `<circle cx="${x(atMs).toFixed(1)}" cy="${y(waitMs / HOUR_MS).toFixed(1)}" r="1.2"/>`,
);
writeFileSync(
  'docs/public/start-gate.svg',
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#777">`,
    '<title>A week of 50 sites on 10 starts an hour: how long the oldest publish of each start waited</title>',
    ...lines,
    ...days,
    `<g fill="#36c" fill-opacity="0.6">${dots.join('')}</g>`,
    '</svg>',
    '',
  ].join('\n'),
);
const waits = starts.map(({ waitMs }) => waitMs / HOUR_MS).sort((a, b) => a - b);
const share = (part: number): string => (waits[Math.floor((waits.length - 1) * part)] ?? 0).toFixed(1);
process.stdout.write(`${starts.length} starts; half waited under ${share(0.5)} h, the longest ${share(1)} h\n`);
