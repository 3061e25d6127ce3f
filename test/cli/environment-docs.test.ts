import { readFileSync } from 'node:fs';
import { VARIABLE_NAMES } from '../../cli/environment.ts';

const page = readFileSync('docs/reference/environment.md', 'utf8');

/** The variables in the first column of the page's tables. */
const documented = [...page.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
);

describe('the page of the environment', () => {
  test('names every variable that is read, once', () => {
    expect(documented.filter((name, index) => documented.indexOf(name) !== index)).toEqual([]);
    // The other variables of Temporal's clients are Temporal's to explain; the page says that they count.
    const ownStandard = ['TEMPORAL_NAMESPACE', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'];
    expect([...documented].sort()).toEqual(VARIABLE_NAMES.filter((name) => !ownStandard.includes(name)).sort());
  });
});
