import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { createProgressBar } from '../../cli/export/progress-bar.ts';

const COLUMNS = 80;

function shownBy(isTTY: boolean): { text: string; bar: ReturnType<typeof createProgressBar> } {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY, columns: COLUMNS });
  const shown = { text: '', bar: createProgressBar('docs.a-long-company-name.example.com', stream) };
  stream.on('data', (text: string) => {
    shown.text += text;
  });
  return shown;
}

describe('the progress of an export', () => {
  it('shows pages, rate and time left on a terminal of 80 columns', async () => {
    const shown = shownBy(true);
    shown.bar.update({ status: 'crawling', progress: 40, pageCount: 10_522 });
    shown.bar.update({ status: 'rewriting', progress: 70.9, pageCount: 10_522 });
    shown.bar.stop();
    await new Promise(setImmediate);
    expect(stripVTControlCharacters(shown.text)).toMatch(/ 70 % \| 10522 pages, \d+\/s \| \S+ left \| rewriting/);
  });

  it('prints a line for each stage and each tenth without a terminal', async () => {
    const shown = shownBy(false);
    for (const progress of [2, 3, 11]) shown.bar.update({ status: 'crawling', progress, pageCount: 5 });
    shown.bar.stop();
    await new Promise(setImmediate);
    expect(shown.text).toBe(
      [2, 11].map((percent) => `docs.a-long-company-name.example.com ${percent} % | 5 pages | crawling\n`).join(''),
    );
  });
});
