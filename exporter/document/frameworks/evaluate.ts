import type { AnyNode, Expression, ObjectExpression, PrivateIdentifier } from 'acorn';

/** The one variable of an expression. */
export type Variable = { name: string; value: string };

/** The direct child nodes, in order. */
export function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flat()
    .filter((value: unknown): value is AnyNode => typeof value === 'object' && value !== null && 'type' in value);
}

/**
 * Statically evaluates an expression of one variable: literals, tables, concatenation and conditions. Undefined if it
 * needs anything else.
 */
export function textOf(node: Expression | PrivateIdentifier, variable: Variable): string | undefined {
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
