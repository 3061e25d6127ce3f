import { ago, tableLines } from '../../cli/table.ts';

type Row = { name: string; note?: string; at?: string };

const columns = {
  Name: ({ name }: Row) => name,
  Note: ({ note }: Row) => note,
  When: ({ at }: Row) => at,
  '': ({ note }: Row) => (note === 'bad' ? 'what is wrong, in a sentence' : ''),
};

test('an empty cell keeps its column, and a column that no row fills is left out', () => {
  const rows = [{ name: 'a', at: 'now' }, { name: 'bcd' }];
  expect(tableLines(rows, columns, 80)).toEqual(['Name  When', 'a     now', 'bcd   -']);
});

test('long texts wrap between words, and sentences stand below their row', () => {
  const rows = [
    { name: 'docs', note: 'several words that have to wrap', at: '5 min ago' },
    { name: 'x', note: 'bad', at: '2 days ago' },
  ];
  const lines = tableLines(rows, columns, 32);
  expect(lines).toEqual([
    'Name  Note            When',
    'docs  several words   5 min ago',
    '      that have to',
    '      wrap',
    'x     bad             2 days ago',
    '  what is wrong, in a sentence',
  ]);
});

test('tokens that are too wide for a table stay whole in blocks', () => {
  const rows = [{ name: 'a-name-of-twenty-five-char', note: 'https://git.example.com/x' }, { name: 'b' }];
  expect(tableLines(rows, columns, 40)).toEqual([
    'Name  a-name-of-twenty-five-char',
    'Note  https://git.example.com/x',
    '',
    'Name  b',
    'Note  -',
  ]);
});

test('terminal sequences are removed, and a text that is no time stays', () => {
  expect(tableLines([{ name: 'a\u001b[2Jb' }], columns, 80)).toEqual(['Name', 'a [2Jb']);
  const now = new Date('2026-11-21T10:05:00Z');
  expect([ago('soon'), ago(null), ago('2026-11-21T10:00:00Z', now)]).toEqual(['soon', '', '5 min ago']);
});
