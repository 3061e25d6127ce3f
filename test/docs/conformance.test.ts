import { readFileSync } from 'node:fs';
import { conformancePage } from '../../scripts/write-conformance.ts';

test('the page of outside suites is what their results say', () => {
  expect(readFileSync('docs/conformance.md', 'utf8')).toBe(conformancePage());
});
