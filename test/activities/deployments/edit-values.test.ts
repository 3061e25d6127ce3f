import { parse, stringify } from 'yaml';
import {
  editValues,
  readSwitches,
  repeatedKeyIn,
  ValuesFileError,
} from '../../../activities/deployments/edit-values.ts';
import { parseValues } from '../../../deployment/values/values.ts';
import fc from '../../helpers/fast-check.ts';

const LINK = 'https://objects.example.com/a/bundle.tar.gz?sig=a%2Bb&expires=17';
const deploy = { enabled: true, bundleUrl: LINK } as const;

/** The expected data after the edit: only the two keys change. */
function meant(text: string, bundleUrl = LINK): unknown {
  const before = entriesOf(parse(text));
  const group = entriesOf(before.find(([key]) => key === 'staticExport')?.[1]);
  const staticExport = { ...Object.fromEntries(group), enabled: true, bundleUrl };
  return { ...Object.fromEntries(before), staticExport };
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

describe('editing a values file', () => {
  it('changes only the characters of the two values', () => {
    const text = [
      '# deployed by hand, once',
      'image:   {tag: "1.2"}   # aligned',
      '',
      'staticExport:',
      '    version: "2026-11-21.3"  # pinned',
      "    bundleUrl: 'https://old.example.com/it''s'   # the link",
      '    enabled: false # for now',
      '# the end',
      'list:',
      '- a',
      '',
    ].join('\n');
    expect(editValues(text, deploy)).toBe(
      text.replace("'https://old.example.com/it''s'", `'${LINK}'`).replace('enabled: false', 'enabled: true'),
    );
  });

  const integrity = `sha256-${'A'.repeat(43)}=`;

  it.each([
    ['a missing one', '  bundleUrl: old # link\n', `\n  integrity: "${integrity}"\n  bundleUrl: ${LINK} # link\n`],
    [
      'one that is there',
      "  integrity: 'sha256-old' # bundle\n  bundleUrl: old\n",
      `\n  integrity: '${integrity}' # bundle\n  bundleUrl: ${LINK}\n`,
    ],
    ['none of both', '', `\n  bundleUrl: "${LINK}"\n  integrity: "${integrity}"\n`],
  ])('writes the integrity with the link, to a group with %s', (_, rest, edited) => {
    const text = `staticExport:\n  enabled: true\n${rest}`;
    expect(editValues(text, { ...deploy, integrity })).toBe(`staticExport:\n  enabled: true${edited}`);
  });

  it('adds the group to a document that has only its start, and rejects a written null', () => {
    expect(editValues('--- # values\n', deploy)).toBe(
      `--- # values\nstaticExport:\n  enabled: true\n  bundleUrl: "${LINK}"\n`,
    );
    expect(() => editValues('~\n', deploy)).toThrow("staticExport can't be edited in place");
  });

  it('rejects more than 1 MiB, before and after the edit, and says what to do', () => {
    const mebibyte = 1024 * 1024;
    const refusal = (sizeBytes: number) =>
      `expected at most 1 MiB, not ${sizeBytes} bytes: move staticExport to a values file of its own`;
    const text = `# ${'é'.repeat(mebibyte / 2 - 1)}`;
    expect(() => editValues(`${text}\n`, deploy)).toThrow(refusal(mebibyte + 1));
    expect(() => readSwitches(`${text}\n`)).toThrow(refusal(mebibyte + 1));
    expect(readSwitches(text)).toEqual({ pin: null, off: false });
    expect(() => editValues(text, deploy)).toThrow('expected at most 1 MiB');
  });

  it('rejects a set of keys without values', () => {
    expect(() => editValues('--- !!set\n? a\n? b\n', deploy)).toThrow(
      'expected keys and values at the top of the file',
    );
  });

  it('leaves an integrity that it has no other for', () => {
    const text = `staticExport:\n  enabled: true\n  integrity: by-hand # kept\n  bundleUrl: ${LINK}\n`;
    expect(editValues(text, deploy)).toBe(text);
    const flow = '{"staticExport": {"enabled": true}}';
    expect(parse(editValues(flow, { ...deploy, integrity }))).toEqual({ staticExport: { ...deploy, integrity } });
  });

  it.each([
    ['plain', 'bundleUrl: https://old', `bundleUrl: ${LINK}`],
    ['double quoted', 'bundleUrl: "https://old"', `bundleUrl: "${LINK}"`],
    ['single quoted', "bundleUrl: 'https://old'", `bundleUrl: '${LINK}'`],
    ['empty', 'bundleUrl: # none yet', `bundleUrl: "${LINK}" # none yet`],
    ['null', 'bundleUrl: ~', `bundleUrl: "${LINK}"`],
    ['folded', 'bundleUrl: >-\n    https://\n    old', `bundleUrl: "${LINK}"`],
    ['anchored', 'bundleUrl: &link "https://old"', `bundleUrl: &link "${LINK}"`],
    ['tagged', 'bundleUrl: !!str "https://old"', `bundleUrl: !!str "${LINK}"`],
  ])('keeps the quoting of a %s value', (_, old, edited) => {
    const text = `staticExport:\n  enabled: true\n  ${old}\nother: 1\n`;
    expect(editValues(text, deploy)).toBe(`staticExport:\n  enabled: true\n  ${edited}\nother: 1\n`);
  });

  it.each([
    ['an empty file', ''],
    ['a file of comments', '# nothing yet\n'],
    ['a file without the group', 'image:\n  tag: v1\n'],
    ['a file that ends without a line break', 'image:\n  tag: v1'],
    ['a file that ends in a block text', 'note: |\n  text'],
    ['a file that ends in a kept block text', 'note: |+\n  text\n\n'],
    ['a file with document marks', '---\nimage: v1\n...\n'],
    ['an empty group', 'staticExport:\nother: 1\n'],
    ['an empty group with a comment', 'a: 1\nstaticExport: # ours\n\nother: 1\n'],
    ['an explicit null', 'staticExport: null\nother: 1\n'],
    ['an empty flow group', 'staticExport: {}\n'],
    ['a flow group', 'staticExport: {version: "1", enabled: false}\n'],
    ['JSON', '{"image": "v1", "staticExport": {"enabled": false, "bundleUrl": "x"}}\n'],
    ['JSON without the group', '{"image": "v1"}'],
    ['an empty JSON object', '{}'],
    ['a group with one key', 'staticExport:\n  version: "1"\nother: 1\n'],
    ['a quoted key', '"staticExport":\n  "enabled": no\n'],
    ['an indented root', '  a: 1\n  staticExport:\n      enabled: false\n'],
    ['a complex key', '? staticExport\n: enabled: false\n'],
    ['a byte order mark', '\ufeffa: 1\n'],
    ['a byte order mark before the group', '\ufeffstaticExport:\n  enabled: false\n'],
    ['a merge key', 'base: &base\n  x: 1\nstaticExport:\n  <<: *base\n  enabled: false\n'],
    ['an anchor at the first key', '&a image: v1\n'],
    ['an indented tag at the first key', '  !!str &a "image": v1\n  other: 1'],
    ['a question mark before the anchor of the first key', '? &a a\n: &b b\n: *a\n'],
    ['a group with an anchor at its first key', 'staticExport:\n  &v version: "1"\n'],
    ['only the end of a document', '...\n'],
    ['a comment and the end of a document', '# values\n...\n'],
    ['a document of YAML 1.1', '%YAML 1.1\n---\n'],
    ['an alias as link', 'link: &l https://x\nstaticExport:\n  bundleUrl: *l\n'],
  ])('works on %s, and is idempotent', (_, text) => {
    const edited = editValues(text, deploy);
    expect(parse(edited)).toEqual(meant(text));
    expect(editValues(edited, deploy)).toBe(edited);
  });

  it('keeps Windows line ends, also in lines that it adds', () => {
    expect(editValues('a: 1\r\nstaticExport:\r\n  version: "1"\r\n', deploy)).toBe(
      `a: 1\r\nstaticExport:\r\n  enabled: true\r\n  bundleUrl: "${LINK}"\r\n  version: "1"\r\n`,
    );
    expect(editValues('a: 1\r\n', deploy)).not.toMatch(/[^\r]\n/);
  });

  it.each([
    ['a key twice', 'a: 1 # first\nb: {c: 1, c: 2}\na: 2\n', 'the key a is there twice at line 3, column 1'],
    ['an empty key twice', ': a\n? \n: b\n', 'the key  is there twice'],
    ['two merges', 'a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n', 'the key << is there twice at line 4, column 3'],
  ])('leaves %s elsewhere as it is, and warns of it', (_, text, warning) => {
    const group = 'staticExport:\n  enabled: false # for now\n  bundleUrl: old\n';
    const after = group.replace('false', 'true').replace('old', LINK);
    expect(editValues(text + group, deploy)).toBe(text + after);
    expect(editValues(group + text, deploy)).toBe(after + text);
    expect(repeatedKeyIn(text + group)).toContain(warning);
    expect(repeatedKeyIn(group)).toBeUndefined();
  });

  it('does not change `enabled` for a refresh', () => {
    const text = 'staticExport:\n  enabled: false\n  bundleUrl: x\n';
    expect(editValues(text, { enabled: undefined, bundleUrl: LINK })).toBe(text.replace(' x', ` ${LINK}`));
  });

  it.each([
    ['broken YAML', 'a: [1\nb: "'],
    ['the group twice', 'staticExport: {}\na: 1\nstaticExport: {}\n'],
    ['two merges in the group', 'a: &a {}\nstaticExport:\n  <<: *a\n  <<: *a\n'],
    ['a group that << merges', 'a: &a {staticExport: {enabled: false}}\n<<: *a\n'],
    ['a key twice', 'staticExport:\n  enabled: true\n  enabled: false\n'],
    ['a list at the top', '- a\n'],
    ['a text as the group', 'staticExport: yes please\n'],
    ['an alias as the group', 'base: &b {enabled: true}\nstaticExport: *b\n'],
    ['a list as the link', 'staticExport:\n  bundleUrl: [a]\n'],
    ['two documents', 'a: 1\n---\nb: 2\n'],
    ['two directives for the version', '%YAML 1.2\n# again\n%YAML 1.1\n---\na: 1\n'],
  ])('rejects %s instead of damaging it', (_, text) => {
    expect(() => editValues(text, deploy)).toThrow(ValuesFileError);
  });

  it('changes exactly the two keys, for any other content', () => {
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant('it is: # odd'));
    const value = fc.oneof(
      scalar,
      fc.array(scalar, { maxLength: 3 }),
      fc.dictionary(fc.string(), scalar, { maxKeys: 3 }),
    );
    const group = fc.record({ enabled: scalar, bundleUrl: scalar, version: fc.string() }, { requiredKeys: [] });
    const file = fc.record({ before: value, staticExport: group, after: value }, { requiredKeys: [] });
    const style = fc.record({
      indent: fc.integer({ min: 1, max: 6 }),
      collectionStyle: fc.constantFrom(...(['any', 'block', 'flow'] as const)),
      defaultStringType: fc.constantFrom(...(['PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL'] as const)),
      windows: fc.boolean(),
    });
    fc.assert(
      fc.property(
        file,
        style,
        fc.webUrl({ withQueryParameters: true }),
        (content, { windows, ...options }, bundleUrl) => {
          const written = stringify(content, options);
          const text = windows ? written.replaceAll('\n', '\r\n') : written;
          expect(parse(editValues(text, { enabled: true, bundleUrl }))).toEqual(meant(text, bundleUrl));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the switch', () => {
  it.each(['false', 'off', 'Off', 'no', 'NO', 'n', '"false"', "'off'", '0', '&off off', '*shared'])(
    'is off for %s, as Helm and a deployment read it, and a refresh leaves it so',
    (written) => {
      const text = `shared: &shared no\nstaticExport:\n  enabled: ${written} # by hand\n  bundleUrl: x\n`;
      expect(readSwitches(text).off).toBe(true);
      expect(parseValues(text.replace(' x', ` ${LINK}`), 'values.yaml')).toMatchObject({ enabled: false });
      expect(editValues(text, { enabled: undefined, bundleUrl: LINK })).toBe(text.replace(' x', ` ${LINK}`));
    },
  );

  it.each([
    ['a merge', 'staticExport:\n  <<: *off\n  bundleUrl: old\n'],
    ['the first of several', 'staticExport:\n  <<: [*off, *on]\n  bundleUrl: old\n'],
    ['a merge in a merge', 'both: &both {<<: *off}\nstaticExport:\n  <<: *both\n  bundleUrl: old\n'],
    ['an anchor', 'staticExport:\n  enabled: *no\n  bundleUrl: old\n'],
  ])('stays off by %s', (_, group) => {
    const text = `off: &off {enabled: off, version: 1.10}\non: &on {enabled: true}\nno: &no "false"\n${group}`;
    expect(readSwitches(text).off).toBe(true);
    const edited = editValues(text, { enabled: undefined, bundleUrl: LINK });
    expect(edited).toBe(text.replace('old', LINK));
    expect(parseValues(edited, 'values.yaml')).toMatchObject({ enabled: false });
    expect(readSwitches(text.replace('  <<', '  enabled: on\n  <<')).off).toBe(group.includes('*no'));
  });

  it.each(['true', 'on', '"true"', '', '~', '*shared'])('is not off for %j', (written) => {
    expect(readSwitches(`shared: &shared yes\nstaticExport:\n  enabled: ${written}\n`).off).toBe(false);
  });
});

describe('the pin', () => {
  it.each([
    ['staticExport: {version: "2026-11-21.3"}', '2026-11-21.3'],
    ['staticExport:\n  version: 1.10 # as typed', '1.10'],
    ['staticExport:\n  version: 7', '7'],
    ['v: &v "7"\nstaticExport:\n  version: *v', '7'],
    ['staticExport:\n  version: true', 'true'],
    ['staticExport:\n  version: "a\\u0062"', 'ab'],
    ['staticExport:\n  version:', null],
    ['staticExport:\n  version: ""', null],
    ['a: 1', null],
    ['', null],
  ])('of %j is read as written', (text, pin) => {
    expect(readSwitches(text).pin).toBe(pin);
    // The deployment reads the edited file in the same way.
    expect(parseValues(editValues(text, deploy), 'values.yaml')).toMatchObject({ version: pin ?? undefined });
  });
});
