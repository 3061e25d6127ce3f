import { createJsonSelector, type Selection } from '../../../api/webhooks/select-json.ts';
import fc from '../../helpers/fast-check.ts';

function select(text: string | Uint8Array, selection: Selection, pieceBytes = 7): unknown {
  const selector = createJsonSelector(selection);
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += pieceBytes) selector.write(bytes.subarray(from, from + pieceBytes));
  return selector.end();
}

const FIELDS = { ref: true, pusher: { name: true }, commits: { message: true, added: true } } as const;

test('keeps the selected parts, whatever is around them', () => {
  const text = JSON.stringify({
    ref: 'refs/heads/main',
    other: { ref: 'no', commits: [{ message: 'no' }] },
    pusher: { name: 'Übler "Gauner" \\ 🚀', email: 'x' },
    commits: [
      { id: 1, message: 'first\nline', added: ['a', 'ä/b'], author: { name: 'x' } },
      { message: null, added: [] },
    ],
  });
  expect(select(text, FIELDS)).toEqual({
    ref: 'refs/heads/main',
    pusher: { name: 'Übler "Gauner" \\ 🚀' },
    commits: [
      { message: 'first\nline', added: ['a', 'ä/b'] },
      { message: null, added: [] },
    ],
  });
});

test('takes values of another type as they are, but objects as null', () => {
  const text = '{"ref": {"a": 1}, "pusher": "me", "commits": {"message": 7, "added": [[1, {"a": 2}], true]}}';
  expect(select(text, FIELDS)).toEqual({
    ref: null,
    pusher: 'me',
    commits: { message: 7, added: [[1, null], true] },
  });
});

test('takes the last of repeated keys, and none that every object inherits', () => {
  expect(select('{"ref": "a", "__proto__": {"ref": "b"}, "constructor": 1, "ref": "c"}', FIELDS)).toEqual({ ref: 'c' });
});

test('keeps the first 20 objects of a list', () => {
  const commits = Array.from({ length: 2_048 }, (_, index) => ({ message: `m${index}`, added: ['a'] }));
  expect(select(JSON.stringify({ commits }), FIELDS, 65_536)).toEqual({ commits: commits.slice(0, 20) });
});

test('makes a text over 64 Ki characters null, and a list that is longer than 1 Mi characters, but not what follows', () => {
  const commits = [
    { message: 'x'.repeat(64 * 1024 + 1), added: ['a'] },
    { message: 'x'.repeat(64 * 1024), added: Array(40_000).fill('0123456789abcdef') },
    { message: 'third', added: [] },
  ];
  const [, second, third] = commits;
  const expected = [{ message: null, added: ['a'] }, { ...second, added: null }, third];
  expect(select(JSON.stringify({ commits, ref: 'r' }), FIELDS, 65_536)).toEqual({ commits: expected, ref: 'r' });
});

test.each([
  '',
  '{',
  '{}}',
  '{} {}',
  '[1,]',
  '{"a":1,}',
  '{"a"}',
  '{"a" "b"}',
  '{"a":}',
  '{1:2}',
  '[1 2]',
  '[}',
  '[:]',
  ',',
  'nul',
  '"a',
  '01',
  "{'a':1}",
  '['.repeat(101) + ']'.repeat(101),
  Buffer.from([0x22, 0xff, 0xfe, 0x22]),
  Buffer.from([0x22, 0xc3]),
])('rejects what is not JSON, or nests too deep: %s', (text) => {
  expect(() => select(text, FIELDS)).toThrow('expected JSON in UTF-8');
});

test('reads all JSON, in pieces of any size, as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.integer({ min: 1, max: 30 }), (text, pieceBytes) => {
      const wrapped = `{"kept": ${JSON.stringify(text)}, "skipped": ${text}}`;
      expect(select(wrapped, { kept: true }, pieceBytes)).toEqual({ kept: text });
    }),
  );
});

test('rejects what JSON.parse rejects', () => {
  const token = fc.constantFrom('{', '}', '[', ']', ':', ',', '"a"', '1', 'null', ' ');
  fc.assert(
    fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
      const text = tokens.join('');
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const read = () => select(text, FIELDS, 100);
      if (isJson) expect(read).not.toThrow();
      else expect(read).toThrow('expected JSON in UTF-8');
    }),
    { numRuns: 500 },
  );
});
