import { isDeepStrictEqual } from 'node:util';
import { type Document, isAlias, isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { nestsTooDeep } from '../../contract/yaml-nesting.ts';
import { endOfKey, endOfLine, indentAt, replacementFor, type Splice, spliceAll } from './splice.ts';

/** Thrown if a values file can't be edited without changing the operator's text; names the place. */
export class ValuesFileError extends Error {
  override readonly name = 'ValuesFileError';
}

/** What Galley writes. `enabled` only ever becomes true; undefined leaves it unchanged. */
type ValuesEdit = { enabled: true | undefined; bundleUrl: string };

const GROUP = 'staticExport';

/**
 * Sets `staticExport.enabled` and `staticExport.bundleUrl` in a values file by replacing only their characters:
 * comments, order, quoting, anchors and line ends elsewhere stay byte for byte.
 * @throws ValuesFileError if the text isn't YAML or `staticExport` isn't a group.
 */
export function editValues(text: string, edit: ValuesEdit): string {
  const before = parse(text);
  const expected = expectedValues(text, edit);
  for (const splices of candidateSplices(text, before, edit)) {
    const edited = spliceAll(text, splices);
    // Accept the splice only if parsing the result gives exactly the expected values.
    if (holds(edited, expected)) return edited;
  }
  throw new ValuesFileError(`${GROUP} can't be edited in place: write it as a plain group`);
}

/** The operator's pin: `staticExport.version` as text; null if there is none. */
export function readPin(text: string): string | null {
  const pin: unknown = parse(text).getIn([GROUP, 'version']);
  return typeof pin === 'string' || typeof pin === 'number' ? readPinText(text, String(pin)) : null;
}

/** Whether `staticExport.enabled` is `false`. A missing key doesn't count. */
export function isOff(text: string): boolean {
  return parse(text).getIn([GROUP, 'enabled']) === false;
}

/** `version: 1.10` is the number 1.1 in YAML, so read what the operator typed. */
function readPinText(text: string, fallback: string): string | null {
  const node: unknown = parse(text).getIn([GROUP, 'version'], true);
  const source = isScalar(node) ? (node.source ?? fallback) : fallback;
  return source === '' ? null : source;
}

function parse(text: string): Document.Parsed {
  if (nestsTooDeep(text)) throw new ValuesFileError('not YAML that can be read: it nests too deep');
  const document = parseDocument(text, { keepSourceTokens: true, prettyErrors: true });
  const [error] = document.errors;
  if (error) throw new ValuesFileError(`not valid YAML: ${error.message.split('\n')[0]}`);
  if (document.contents !== null && !isMap(document.contents) && !isEmptyScalar(document.contents)) {
    throw new ValuesFileError('expected keys and values at the top of the file');
  }
  return document;
}

/** The same edit on the parsed document, to check the spliced text against. */
function expectedValues(text: string, edit: ValuesEdit): unknown {
  const document = parse(text);
  const group: unknown = document.get(GROUP, true);
  if (!isMap(group)) document.set(GROUP, document.createNode({}));
  if (edit.enabled) setKeepingAnchor(document, [GROUP, 'enabled'], true);
  setKeepingAnchor(document, [GROUP, 'bundleUrl'], edit.bundleUrl);
  return document.toJS();
}

function setKeepingAnchor(document: Document, path: string[], value: unknown): void {
  const node: unknown = document.getIn(path, true);
  if (isScalar(node)) node.value = value;
  else document.setIn(path, value);
}

function holds(edited: string, expected: unknown): boolean {
  try {
    return isDeepStrictEqual(parse(edited).toJS(), expected);
  } catch {
    return false;
  }
}

function* candidateSplices(text: string, document: Document.Parsed, edit: ValuesEdit): Generator<Splice[]> {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const entries = (quoted: boolean): string[] => {
    const key = (name: string): string => (quoted ? JSON.stringify(name) : name);
    const url = `${key('bundleUrl')}: ${JSON.stringify(edit.bundleUrl)}`;
    return edit.enabled ? [`${key('enabled')}: true`, url] : [url];
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
      throw new ValuesFileError(`expected ${GROUP} to be a group with the keys enabled and bundleUrl`);
    }
    const [from, to] = isScalar(pair.value) ? (pair.value.range ?? [0, 0]) : [0, 0];
    const at = endOfKey(pair);
    if (isMap(root) && root.flow) yield [{ from: at, to: Math.max(at, to), text: ` ${flow}` }];
    else {
      const lineEnd = endOfLine(text, Math.max(at, to));
      const indent = `${indentAt(text, isMap(root) ? (root.range?.[0] ?? 0) : 0)}  `;
      const removed = to > from ? [{ from, to, text: '' }] : [];
      yield [...removed, { from: lineEnd, to: lineEnd, text: `${newline}${block(indent)}` }];
    }
  } else if (isMap(root) && root.flow) {
    const at = (root.range?.[0] ?? 0) + 1;
    yield [{ from: at, to: at, text: `"${GROUP}": ${flow}${root.items.length > 0 ? ', ' : ''}` }];
  } else {
    const start = isMap(root) ? (root.range?.[0] ?? 0) : text.length;
    const indent = isMap(root) ? indentAt(text, start) : '';
    const lines = `${indent}${GROUP}:${newline}${block(`${indent}  `)}${newline}`;
    const glue = text === '' || text === '\ufeff' || text.endsWith('\n') ? '' : newline;
    yield [{ from: text.length, to: text.length, text: `${glue}${lines}` }];
    // The end may hold a document end mark, or a block text that would swallow a line break.
    yield [{ from: start, to: start, text: `${lines.slice(indent.length)}${indent}` }];
  }
}

function* groupSplices(text: string, group: YAMLMap, edit: ValuesEdit, newline: string): Generator<Splice[]> {
  const splices: Splice[] = [];
  const missing: [string, string][] = [];
  const values: [string, true | string][] = [['bundleUrl', edit.bundleUrl]];
  if (edit.enabled) values.unshift(['enabled', true]);
  for (const [name, value] of values) {
    const pair = findPair(group, name);
    if (pair === undefined) missing.push([name, JSON.stringify(value)]);
    else splices.push(...replacementFor(pair, value, group.flow === true, newline));
  }
  const start = group.range?.[0] ?? 0;
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
