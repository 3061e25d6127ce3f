import type { AnyNode, Program } from 'acorn';
import type { Collector } from '../collector.ts';
import { rawOffset, type SpannedText } from '../spanned-text.ts';
import { UnreadableDocument } from '../unreadable.ts';
import { formOf, isNamedFile } from '../values.ts';
import { nodesOf, parseScript } from './parse-script.ts';

/** Where a script runs: in a page, as a module, or as a file that any page or worker may load. */
type Runs = 'inline' | 'module' | 'classic';

/** A larger script takes seconds to parse. */
const MAX_LENGTH = 4 * 1024 * 1024;
/** In any quotes, or in a text that has quotes or escapes of its own. */
const ABSOLUTE = /(?:https?:)?\\{0,3}\/\\{0,3}\/[^\s"'`<>(){}\\/]{1,255}(?:\\{0,3}\/[^\s"'`<>(){}\\/]{0,500}){1,40}/gi;

/**
 * Adds the files that a script names by absolute URLs of the site. A string that is such a URL as a whole becomes an
 * expression with the URL of the file in the bundle: it is absolute too, so whatever the script does with it works as
 * before.
 */
export function referSiteLiterals(script: SpannedText, collector: Collector, isInline: boolean): void {
  const { text } = script;
  if (!collector.namesSite(text)) return;
  for (const [found] of text.matchAll(ABSOLUTE)) {
    const url = found.replaceAll('\\', '');
    if (isNamedFile(url)) collector.mention(url, 'guess');
  }
  const parsed = text.length > MAX_LENGTH ? undefined : parse(text, isInline);
  if (parsed === undefined) return;
  const layers = LAYERS[parsed.runs];
  const known = collector.referenceStarts();
  for (const { node, value } of wholeStrings(parsed.program)) {
    if (formOf(value) !== 'absolute' || known.has(rawOffset(script, node.start + 1))) continue;
    collector.refer({ span: script, from: node.start, to: node.end, layers }, 'guess', value);
  }
}

const LAYERS: Readonly<Record<Runs, string>> = { inline: 'pqw', module: 'qi', classic: 'rql' };

function parse(text: string, isInline: boolean): { program: Program; runs: Runs } | undefined {
  try {
    const script = parseScript(text);
    if (script !== undefined) return { program: script, runs: isInline ? 'inline' : 'classic' };
    const program = parseScript(text, 'module');
    return program && { program, runs: isInline ? 'inline' : 'module' };
  } catch (error) {
    if (error instanceof UnreadableDocument) return undefined;
    throw error;
  }
}

/** The strings of a script that may be replaced by an expression, and aren't joined with another text. */
function* wholeStrings(program: Program): Generator<{ node: AnyNode; value: string }> {
  const fixed = new Set<unknown>();
  for (const node of nodesOf(program)) {
    for (const each of fixedIn(node)) fixed.add(each);
    const value = stringOf(node);
    if (value !== undefined && !fixed.has(node)) yield { node, value };
  }
}

function stringOf(node: AnyNode): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  const [only, more] = node.type === 'TemplateLiteral' ? node.quasis : [];
  return more === undefined ? (only?.value.cooked ?? undefined) : undefined;
}

/** The parts of a node that must stay as they are. */
function fixedIn(node: AnyNode): unknown[] {
  switch (node.type) {
    case 'Property':
    case 'PropertyDefinition':
    case 'MethodDefinition':
      return node.computed ? [] : [node.key];
    case 'ExpressionStatement':
      return [node.expression];
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
      return [node.source];
    case 'ImportSpecifier':
      return [node.imported];
    case 'ExportSpecifier':
      return [node.local, node.exported];
    case 'ImportAttribute':
      return [node.key, node.value];
    case 'TaggedTemplateExpression':
      return [node.quasi];
    case 'BinaryExpression':
      return node.operator === '+' ? [node.left, node.right] : [];
    case 'AssignmentExpression':
      return node.operator === '+=' ? [node.right] : [];
    default:
      return [];
  }
}
