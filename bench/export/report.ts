import { table } from '../table.ts';
import { POLL_MS } from './export-client.ts';
import { type Figure, isMet, type RowResult } from './figure.ts';

/** The table and its notes, for a terminal. */
export function report(results: readonly RowResult[], runs: number): string {
  const lines = results.flatMap(({ figures }) => figures).map(tableRow);
  const notes = [...results.flatMap((result) => result.notes), ...explanation(runs)];
  return `${table([['', 'galley', 'against', 'figure', 'goal', ''], ...lines])}\n${notes.join('\n')}\n`;
}

function tableRow(figure: Figure): string[] {
  const { is, bound, written } = figure.goal;
  return [
    figure.measure,
    figure.ours,
    figure.theirs,
    figure.value.toFixed(is === 'exactly' ? 0 : 3),
    `${is} ${written ?? bound}`,
    isMet(figure) ? 'met' : 'MISSED',
  ];
}

function explanation(runs: number): string[] {
  return [
    `${runs === 1 ? 'One run' : `Medians of ${runs} runs, contenders in turn`}. A figure is the ratio of two medians unless it names its unit.`,
    "A client measures an export's time from the start request to the first response from the bundle's link.",
    `It polls every ${POLL_MS.young} ms, and after ${POLL_MS.oldAfter / 1_000} s every ${POLL_MS.old} ms. The platform is warm, like a long-running service;`,
    'the others start cold each time, like commands. Peak memory is the largest of all runs.',
  ];
}
