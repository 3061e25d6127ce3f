import { isDeepStrictEqual } from 'node:util';
import { type Document, isAlias, isMap, isNode, isScalar, type Pair, parseDocument, visit, type YAMLMap } from 'yaml';
import { isSwitchedOff, MAX_VALUES_BYTES } from '../../contract/values-file.ts';
import { nestsTooDeep } from '../../contract/yaml-nesting.ts';
import { danglingAlias, nodeOfKey, repeatedInGroup, repeatedKeyOf } from '../../contract/yaml-values.ts';
import { endOfKey, endOfLine, indentAt, placeOf, replacementFor, spliceAll, type TextEdit } from './splice.ts';

/** Thrown if a values file can't be edited without changing the operator's text; names line and column. */
export class ValuesFileError extends Error {
  override readonly name = 'ValuesFileError';
}

/** What Galley writes. `enabled` only ever becomes true. What is undefined stays as it is. */
type ValuesEdit = { enabled: true | undefined; bundleUrl: string; integrity?: string | undefined };

/** A values file that was read once for several questions: reading 1 MiB takes a second. */
export type OpenValues = { text: string; document: Document.Parsed };

const GROUP = 'staticExport';

/** The library's default of 100 rejects ordinary files. This still stops aliases of aliases that expand without end. */
const MAX_ALIASES = 10_000;

/** The library reads the last one. */
const TWO_VERSIONS = /^\ufeff?(?:(?:[%#].*)?\n)*?%YAML.*\n(?:(?:[%#].*)?\n)*?(?=%YAML)/;

/** The workflow keeps this much of a pin and waits until the file has another one, so both must be cut alike. */
const MAX_PIN = 200;

/**
 * Sets `enabled`, `bundleUrl` and `integrity` of `staticExport` in a values file by replacing only their characters: comments,
 * order, quoting, anchors and line ends elsewhere stay byte for byte.
 * @throws ValuesFileError if the text isn't YAML, `staticExport` isn't a group, or it has or would get more than 1 MiB.
 */
export function editValues(values: string | OpenValues, edit: ValuesEdit): string {
  const { text, document: before } = asOpen(values);
  let expected: unknown;
  for (const splices of candidateSplices(text, before, edit)) {
    const edited = spliceAll(text, splices);
    checkSize(Buffer.byteLength(edited));
    // Accept the splice only if parsing the result gives exactly the expected values.
    if (holdsInGroup(before, text, { edited, splices, edit })) return edited;
    expected ??= expectedValues(text, edit);
    if (holds(edited, expected)) return edited;
  }
  const group = isMap(before.contents) ? findPair(before.contents, GROUP) : undefined;
  const at = placeOf(text, startOf(group?.key));
  throw new ValuesFileError(`${GROUP} can't be edited in place ${at}: write it as a plain group`);
}

/**
 * The operator's switches. `pin` is `staticExport.version` as typed, cut to 200 characters; null if there is none. `off` is
 * whether `staticExport.enabled` means false; a missing key doesn't count.
 * @throws ValuesFileError if the text isn't YAML or has more than 1 MiB
 */
export function readSwitches(values: string | OpenValues): { pin: string | null; off: boolean } {
  const { document } = asOpen(values);
  const group = nodeOfKey(document, document.contents, GROUP);
  const version = nodeOfKey(document, group, 'version');
  const enabled = nodeOfKey(document, group, 'enabled');
  return { pin: pinOf(version), off: isScalar(enabled) && isSwitchedOff(enabled.value) };
}

/** `version: 1.10` is the number 1.1 in YAML, so this is what the operator typed. */
function pinOf(node: unknown): string | null {
  if (!isScalar(node) || node.value === null) return null;
  const typed = typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
  return typed.slice(0, MAX_PIN) || null;
}

/** @throws ValuesFileError for more bytes than a deployment reads. Check a file before it is read. */
export function checkSize(sizeBytes: number): void {
  if (sizeBytes <= MAX_VALUES_BYTES) return;
  throw new ValuesFileError(
    `expected at most 1 MiB, not ${sizeBytes} bytes: move ${GROUP} to a values file of its own, and name that one in galley.yaml`,
  );
}

/** @throws ValuesFileError if the text isn't YAML or has more than 1 MiB */
export function openValues(text: string): OpenValues {
  return { text, document: parse(text) };
}

const asOpen = (values: string | OpenValues): OpenValues => (typeof values === 'string' ? openValues(values) : values);

function parse(text: string): Document.Parsed {
  checkSize(Buffer.byteLength(text));
  if (nestsTooDeep(text)) throw new ValuesFileError('not YAML that can be read: it nests too deep');
  const document = parseDocument(text, { keepSourceTokens: true, prettyErrors: false, uniqueKeys: false });
  const [error] = document.errors;
  if (error) {
    const at = placeOf(text, error.pos[0]);
    throw new ValuesFileError(
      error.code === 'MULTIPLE_DOCS'
        ? `expected one YAML document, but a second one begins ${at}`
        : `not valid YAML: ${error.message} ${at}`,
    );
  }
  const versions = TWO_VERSIONS.exec(text)?.[0];
  if (versions !== undefined) {
    throw new ValuesFileError(`not valid YAML: a second %YAML ${placeOf(text, versions.length)}`);
  }
  const isValues = isMap(document.contents) && document.contents.tag !== 'tag:yaml.org,2002:set';
  if (document.contents !== null && !isValues && !isEmptyScalar(document.contents)) {
    const at = placeOf(text, startOf(document.contents));
    throw new ValuesFileError(`expected keys and values at the top of the file, not what is ${at}`);
  }
  rejectRepeatedKeys(document, text);
  return document;
}

/** Galley's keys must be there once. Elsewhere, Helm reads the last of repeated keys, and Galley edits none of them. */
function rejectRepeatedKeys(document: Document.Parsed, text: string): void {
  const repeated = repeatedInGroup(document, GROUP);
  if (repeated !== undefined) throw new ValuesFileError(`not valid YAML: ${twice(repeated, text)}`);
}

/** What to warn of: the first key outside of the group that is there twice. The text must be one that `editValues` takes. */
export function repeatedKeyIn(values: string | OpenValues): string | undefined {
  const { text, document } = asOpen(values);
  let found: Pair | undefined;
  visit(document, {
    // The library's own check compares every key with every other one: seconds for a file of 10,000 lines.
    Map(_key, map) {
      found = repeatedKeyOf(map);
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found && twice(found, text);
}

function twice({ key }: Pair, text: string): string {
  return `the key ${isScalar(key) ? (key.source ?? key.value) : ''} is there twice ${placeOf(text, startOf(key))}`;
}

/** The values of a parsed file, with aliases resolved. */
function toValues(document: Document, text: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    rejectDanglingAlias(document, text);
    throw new ValuesFileError(`not YAML that can be read: more than ${MAX_ALIASES} aliases`);
  }
}

function rejectDanglingAlias(document: Document, text: string): void {
  const alias = danglingAlias(document);
  if (alias === undefined) return;
  const at = placeOf(text, startOf(alias));
  throw new ValuesFileError(`not valid YAML: the alias *${alias.source} ${at} has no anchor before it`);
}

/** Offset of a node; 0 for a part without one. */
function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

const KEY_MARKS = ['explicit-key-ind', 'anchor', 'tag'];

/** Where the first key of a mapping begins; its range begins after an anchor or a tag of that key. */
function startOfMap(map: YAMLMap): number {
  const first = map.srcToken?.type === 'block-map' ? map.srcToken.items[0] : undefined;
  return first?.start.find(({ type }) => KEY_MARKS.includes(type))?.offset ?? startOf(map);
}

/** The same edit on the parsed document, to check the spliced text against. */
function expectedValues(text: string, edit: ValuesEdit): unknown {
  const document: Document = parse(text);
  if (!isMap(document.contents)) document.contents = document.createNode({});
  const group: unknown = document.get(GROUP, true);
  if (!isMap(group)) document.set(GROUP, document.createNode({}));
  for (const [name, value] of editedKeys(edit)) setKeepingAnchor(document, [GROUP, name], value);
  return toValues(document, text);
}

/** In the order in which new ones are written. */
function editedKeys({ enabled, bundleUrl, integrity }: ValuesEdit): [name: string, value: true | string][] {
  return [
    ...(enabled === undefined ? [] : [['enabled', enabled] satisfies [string, true]]),
    ['bundleUrl', bundleUrl],
    ...(integrity === undefined ? [] : [['integrity', integrity] satisfies [string, string]]),
  ];
}

function setKeepingAnchor(document: Document, path: string[], value: unknown): void {
  const node: unknown = document.getIn(path, true);
  if (isScalar(node)) node.value = value;
  else document.setIn(path, value);
}

function holds(edited: string, expected: unknown): boolean {
  try {
    return isDeepStrictEqual(toValues(parse(edited), edited), expected);
  } catch {
    return false;
  }
}

type Edited = { edited: string; splices: readonly TextEdit[]; edit: ValuesEdit };

/**
 * The same for a group whose lines stand alone, as in nearly all files: then only they are read again, because the rest is as
 * it was. False if they don't, or if the splices aren't right.
 */
function holdsInGroup(before: Document.Parsed, text: string, { edited, splices, edit }: Edited): boolean {
  const lines = linesOfGroup(before, text);
  if (lines === undefined || splices.some(({ from, to }) => from < lines.from || to > lines.to)) return false;
  rejectDanglingAlias(before, text);
  const own: unknown = isMap(lines.group) ? lines.group.toJS(before) : {};
  const expected = { [GROUP]: Object.assign({}, own, Object.fromEntries(editedKeys(edit))) };
  return holds(edited.slice(lines.from, lines.to + edited.length - text.length), expected);
}

type GroupLines = { from: number; to: number; group: unknown };

/** The offsets of the group's lines. Undefined if it shares a line with another key, or has an alias or an anchor. */
function linesOfGroup({ contents }: Document.Parsed, text: string): GroupLines | undefined {
  if (!isMap(contents) || contents.srcToken?.type !== 'block-map' || text.startsWith('%')) return undefined;
  const at = contents.items.findIndex(({ key }) => isScalar(key) && key.value === GROUP);
  const pair = contents.items[at];
  const next = contents.items[at + 1];
  const [from, to] = [startOf(pair?.key), next === undefined ? text.length : startOf(next.key)];
  const isAtLine = (offset: number): boolean => offset === 0 || text[offset - 1] === '\n';
  const isMarked = (token: { start: readonly { type: string }[] } | undefined): boolean =>
    token?.start.some(({ type }) => KEY_MARKS.includes(type)) === true;
  const tokens = contents.srcToken.items;
  if (pair === undefined || !isAtLine(from) || isMarked(tokens[at]) || isMarked(tokens[at + 1])) return undefined;
  if (next !== undefined && (!isScalar(next.key) || !isAtLine(to))) return undefined;
  let refers = false;
  visit(isNode(pair.value) ? pair.value : null, {
    Node(_key, node) {
      refers ||= isAlias(node) || node.anchor !== undefined;
    },
  });
  return refers ? undefined : { from, to, group: pair.value };
}

function* candidateSplices(text: string, document: Document.Parsed, edit: ValuesEdit): Generator<TextEdit[]> {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const entries = (quoted: boolean): string[] => {
    const key = (name: string): string => (quoted ? JSON.stringify(name) : name);
    return editedKeys(edit).map(([name, value]) => `${key(name)}: ${JSON.stringify(value)}`);
  };
  const block = (indent: string): string =>
    entries(false)
      .map((entry) => `${indent}${entry}`)
      .join(newline);
  const flow = `{${entries(true).join(', ')}}`;
  const root: unknown = document.contents;
  const pair = isMap(root) ? findPair(root, GROUP) : undefined;

  if (isMap(pair?.value)) {
    yield* groupSplices(text, pair.value, edit, newline);
  } else if (pair !== undefined) {
    if (isAlias(pair.value) || (isScalar(pair.value) && pair.value.value !== null)) {
      const at = placeOf(text, startOf(pair.value));
      throw new ValuesFileError(`expected ${GROUP} to be a group with the keys enabled and bundleUrl ${at}`);
    }
    const [from, to] = isScalar(pair.value) ? (pair.value.range ?? [0, 0]) : [0, 0];
    const at = endOfKey(pair);
    if (isMap(root) && root.flow) yield [{ from: at, to: Math.max(at, to), text: ` ${flow}` }];
    else {
      const lineEnd = endOfLine(text, Math.max(at, to));
      const indent = `${indentAt(text, isMap(root) ? startOfMap(root) : 0)}  `;
      const removed = to > from ? [{ from, to, text: '' }] : [];
      yield [...removed, { from: lineEnd, to: lineEnd, text: `${newline}${block(indent)}` }];
    }
  } else if (nodeOfKey(document, root, GROUP) !== undefined) {
    throw new ValuesFileError(
      `expected ${GROUP} to be a group of this file, but << merges it: write it as a plain group`,
    );
  } else if (isMap(root) && root.flow) {
    const at = (root.range?.[0] ?? 0) + 1;
    yield [{ from: at, to: at, text: `"${GROUP}": ${flow}${root.items.length > 0 ? ', ' : ''}` }];
  } else {
    const start = isMap(root) ? startOfMap(root) : startOf(root);
    const indent = isMap(root) ? indentAt(text, start) : '';
    const lines = `${indent}${GROUP}:${newline}${block(`${indent}  `)}${newline}`;
    const glue = text === '' || text === '\ufeff' || text.endsWith('\n') ? '' : newline;
    yield [{ from: text.length, to: text.length, text: `${glue}${lines}` }];
    // The end may hold a document end mark, or a block text that would swallow a line break.
    yield [{ from: start, to: start, text: `${lines.slice(indent.length)}${indent}` }];
  }
}

function* groupSplices(text: string, group: YAMLMap, edit: ValuesEdit, newline: string): Generator<TextEdit[]> {
  const splices: TextEdit[] = [];
  const missing: [string, string][] = [];
  for (const [name, value] of editedKeys(edit)) {
    const pair = findPair(group, name);
    if (pair === undefined) missing.push([name, JSON.stringify(value)]);
    else splices.push(...replacementFor(text, pair, value, group.flow === true));
  }
  const start = startOfMap(group);
  if (missing.length === 0) {
    yield splices;
  } else if (group.flow) {
    const inside = missing.map(([name, value]) => `"${name}": ${value}`).join(', ');
    const at = start + 1;
    yield [...splices, { from: at, to: at, text: `${inside}${group.items.length > 0 ? ', ' : ''}` }];
  } else {
    const indent = indentAt(text, start);
    const lines = missing.map(([name, value]) => `${name}: ${value}`);
    const switchValue = findPair(group, 'enabled')?.value;
    if (isScalar(switchValue) && switchValue.range) {
      // Put the link on the line below `enabled`; the rest of that line stays.
      const at = endOfLine(text, switchValue.range[1]);
      yield [...splices, { from: at, to: at, text: lines.map((line) => `${newline}${indent}${line}`).join('') }];
    }
    yield [...splices, { from: start, to: start, text: lines.map((line) => `${line}${newline}${indent}`).join('') }];
  }
}

function findPair(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find((item) => (isScalar(item.key) ? item.key.value : item.key) === name);
}

function isEmptyScalar(node: unknown): boolean {
  return isScalar(node) && node.value === null;
}
