import type { AnyNode, Expression, ObjectExpression, PrivateIdentifier } from 'acorn';
import { nodesOf, parseScript } from '../javascript/parse-script.ts';
import type { Mention } from './adapter.ts';

/** Webpack and Rspack runtimes keep the functions that map a chunk id to its file name under these names. */
const FILE_NAME_FUNCTIONS = ['u', 'miniCssF', 'k'];
/** Whether a script may contain such a function; most don't, and need no parsing. */
const RUNTIME = /\.(?:u|miniCssF|k)\s*=\s*(?:function|\(?\w+\)?\s*=>)/;
const MAX_CHUNKS = 20_000;
const MAX_RUNTIME_LENGTH = 4 * 1024 * 1024;
/** Nodes to evaluate for all ids together: about ten for each, but a long expression of a hostile script has millions. */
const MAX_EVALUATED = 5_000_000;

/**
 * The chunks that a webpack or Rspack runtime can load: evaluates its functions `id => file name` for every known id.
 * These are guesses, because some chunks have only a script or only a stylesheet.
 */
export function webpackChunks(url: string, script: string): Mention[] {
  if (!RUNTIME.test(script) || script.length > MAX_RUNTIME_LENGTH) return [];
  const names = new Set<string>();
  const { functions, asked } = readRuntime(script);
  const budget = { nodes: MAX_EVALUATED };
  for (const { parameter, body } of functions) {
    for (const id of [...idsIn(body), ...asked]) {
      if (names.size >= MAX_CHUNKS) break;
      const name = textOf(body, { name: parameter, value: id, budget });
      if (name !== undefined && /\.(?:m?js|css)$/.test(name)) names.add(name);
    }
  }
  const base = publicPath(url, [...names]);
  return [...names].map((name) => ({ url: `${base}${name}`, kind: 'probe' }));
}

type FileNameFunction = { parameter: string; body: Expression };

type Runtime = { functions: FileNameFunction[]; asked: Set<string> };

function readRuntime(script: string): Runtime {
  const runtime: Runtime = { functions: [], asked: new Set() };
  // A script that doesn't parse may still be read by other means.
  const program = parseScript(script);
  if (program === undefined) return runtime;
  for (const node of nodesOf(program, (each) => fileNameFunction(each) !== undefined)) {
    const own = fileNameFunction(node);
    if (own !== undefined) runtime.functions.push(own);
    else for (const id of askedFor(node)) runtime.asked.add(id);
  }
  return runtime;
}

/** Chunks that the script requests by id, as workers do: `x.e(944)`, `x.O(undefined, [944], …)`. */
function askedFor(node: AnyNode): string[] {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return [];
  const { property } = node.callee;
  if (property.type !== 'Identifier' || (property.name !== 'e' && property.name !== 'O')) return [];
  const listed = node.arguments.flatMap((each) => (each.type === 'ArrayExpression' ? each.elements : [each]));
  return listed.flatMap((each) => (each?.type === 'Literal' && isId(each.value) ? [String(each.value)] : []));
}

function isId(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^[\w-]+$/.test(value));
}

/** `x.u = e => …` or `x.u = function (e) { return … }`. */
function fileNameFunction(node: AnyNode): FileNameFunction | undefined {
  if (node.type !== 'AssignmentExpression' || node.left.type !== 'MemberExpression') return undefined;
  const { property } = node.left;
  if (property.type !== 'Identifier' || !FILE_NAME_FUNCTIONS.includes(property.name)) return undefined;
  const { right } = node;
  if (right.type !== 'ArrowFunctionExpression' && right.type !== 'FunctionExpression') return undefined;
  const [parameter] = right.params;
  if (parameter?.type !== 'Identifier') return undefined;
  if (right.body.type !== 'BlockStatement') return { parameter: parameter.name, body: right.body };
  const statement = right.body.body.find((each) => each.type === 'ReturnStatement');
  if (statement?.type !== 'ReturnStatement' || !statement.argument) return undefined;
  return { parameter: parameter.name, body: statement.argument };
}

/** The ids that a function mentions: the keys of its tables, and values compared with its parameter. */
function idsIn(body: AnyNode): Set<string> {
  const ids = new Set<string>();
  for (const node of nodesOf(body)) {
    if (node.type === 'Property') {
      const { key } = node;
      if (key.type === 'Identifier') ids.add(key.name);
      else if (key.type === 'Literal') ids.add(String(key.value));
    } else if (node.type === 'BinaryExpression' && /^===?$/.test(node.operator)) {
      for (const side of [node.left, node.right]) if (side.type === 'Literal') ids.add(String(side.value));
    }
  }
  return ids;
}

/** Chunk names are relative to the public path: the part of the runtime's URL before one of their folders. */
function publicPath(url: string, names: readonly string[]): string {
  const folders = new Set(names.map((name) => name.slice(0, name.lastIndexOf('/') + 1)));
  const own = [...folders].find((folder) => folder !== '' && url.includes(`/${folder}`));
  return url.slice(0, own === undefined ? url.lastIndexOf('/') + 1 : url.lastIndexOf(`/${own}`) + 1);
}

/** The one variable of an expression, and how many more nodes may be evaluated. */
type Variable = { name: string; value: string; budget: { nodes: number } };

/**
 * Statically evaluates an expression of one variable: literals, tables, concatenation and conditions. Undefined if it
 * needs anything else.
 */
function textOf(node: Expression | PrivateIdentifier, variable: Variable): string | undefined {
  variable.budget.nodes -= 1;
  if (variable.budget.nodes < 0) return undefined;
  switch (node.type) {
    case 'Literal':
      return node.value === null || node.value === undefined ? undefined : String(node.value);
    case 'Identifier':
      return node.name === variable.name ? variable.value : undefined;
    case 'ParenthesizedExpression':
      return textOf(node.expression, variable);
    case 'BinaryExpression':
      return node.operator === '+' ? joined([node.left, node.right], variable) : undefined;
    case 'TemplateLiteral': {
      const parts = node.expressions.map((each) => textOf(each, variable));
      if (parts.includes(undefined)) return undefined;
      return node.quasis.map(({ value }, index) => (value.cooked ?? '') + (parts[index] ?? '')).join('');
    }
    case 'LogicalExpression':
      return node.operator === '&&' ? undefined : textOf(node.left, variable) || textOf(node.right, variable);
    case 'ConditionalExpression': {
      const chosen = isTrue(node.test, variable);
      if (chosen === undefined) return undefined;
      return textOf(chosen ? node.consequent : node.alternate, variable);
    }
    case 'MemberExpression': {
      const key = node.computed ? textOf(node.property, variable) : undefined;
      if (key === undefined || node.object.type === 'Super') return undefined;
      const table = node.object.type === 'ParenthesizedExpression' ? node.object.expression : node.object;
      return table.type === 'ObjectExpression' ? entryOf(table, key, variable) : undefined;
    }
    default:
      return undefined;
  }
}

function joined(parts: readonly (Expression | PrivateIdentifier)[], variable: Variable): string | undefined {
  const texts = parts.map((each) => textOf(each, variable));
  return texts.includes(undefined) ? undefined : texts.join('');
}

function isTrue(test: Expression, variable: Variable): boolean | undefined {
  if (test.type !== 'BinaryExpression') return undefined;
  const [left, right] = [textOf(test.left, variable), textOf(test.right, variable)];
  if (left === undefined || right === undefined) return undefined;
  if (/^===?$/.test(test.operator)) return left === right;
  return /^!==?$/.test(test.operator) ? left !== right : undefined;
}

/** Cached by key, because a table with thousands of entries is read once per entry. */
const entries = new WeakMap<ObjectExpression, ReadonlyMap<string, Expression>>();

function entryOf(table: ObjectExpression, key: string, variable: Variable): string | undefined {
  let known = entries.get(table);
  if (known === undefined) {
    known = readEntries(table);
    entries.set(table, known);
  }
  const value = known.get(key);
  return value === undefined ? undefined : textOf(value, variable);
}

function readEntries(table: ObjectExpression): Map<string, Expression> {
  const read = new Map<string, Expression>();
  for (const property of table.properties) {
    if (property.type !== 'Property' || property.computed) continue;
    const { key, value } = property;
    if (key.type === 'Identifier') read.set(key.name, value);
    else if (key.type === 'Literal') read.set(String(key.value), value);
  }
  return read;
}
