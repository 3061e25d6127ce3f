import { isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from 'yaml';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { nestsTooDeep } from '../../contract/yaml-nesting.ts';

export type ConfigPath = readonly PropertyKey[];

export type ConfigDocument = {
  /** The mapping at the root; empty for an empty file. */
  value: Readonly<Record<string, unknown>>;
  /** ` (line 12)` for a key's nearest written ancestor, otherwise an empty text. */
  place: (path: ConfigPath) => string;
};

/** Parses YAML with line numbers. Throws ConfigurationError for invalid YAML or if the root isn't a mapping. */
export function parseConfigDocument(text: string, fileName: string): ConfigDocument {
  if (nestsTooDeep(text)) throw new ConfigurationError([`${fileName}: expected YAML: it nests too deep`]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    throw new ConfigurationError(
      document.errors.map((error) => {
        const { line, col } = lines.linePos(error.pos[0]);
        return `${fileName}: expected YAML: ${error.message} (line ${line}, column ${col})`;
      }),
    );
  }
  const value = asMapping(toPlain(() => document.toJS(), fileName) ?? {}, fileName);
  const place = (path: ConfigPath): string => {
    const offset = offsetOf(document.contents, path);
    return offset === undefined ? '' : ` (line ${lines.linePos(offset).line})`;
  };
  return { value, place };
}

/** Aliases are resolved only here, so an alias bomb is rejected here. */
function toPlain(convert: () => unknown, fileName: string): unknown {
  try {
    return convert();
  } catch (error) {
    throw new ConfigurationError([`${fileName}: expected YAML: ${error instanceof Error ? error.message : error}`]);
  }
}

function asMapping(value: unknown, fileName: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigurationError([`${fileName}: expected a mapping with keys such as adminApi and sites`]);
  }
  return Object.fromEntries(Object.entries(value));
}

function offsetOf(root: unknown, path: ConfigPath): number | undefined {
  let node: unknown = root;
  let offset: number | undefined;
  for (const key of path) {
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
      : undefined;
    if (pair !== undefined && isPair(pair)) {
      offset = isNode(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
      node = pair.value;
      continue;
    }
    node = isNode(node) && 'items' in node && Array.isArray(node.items) ? node.items[Number(key)] : undefined;
    if (!isNode(node)) break;
    offset = node.range?.[0] ?? offset;
  }
  return offset;
}

export type Environment = Readonly<Record<string, string | undefined>>;

type Problem = { path: ConfigPath; message: string };

/** An escaped `$${`, a variable, or an invalid `${`. */
const PLACEHOLDER = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{[^}]*\}?/g;

/**
 * Interpolates `${VAR}` in every text of a parsed document; `$${` stands for `${`. Runs after the YAML is parsed, so a
 * variable's value can contain any character and never adds a key. Keys are unchanged.
 */
export function interpolate(value: unknown, env: Environment): { value: unknown; problems: Problem[] } {
  const problems: Problem[] = [];

  const fill = (text: string, path: ConfigPath): string =>
    text.replace(PLACEHOLDER, (match: string, name: string | undefined) => {
      if (match === '$${') return '${';
      if (name === undefined) {
        problems.push({ path, message: `expected \${NAME} or the escape $\${, got ${match}` });
        return match;
      }
      const filled = Object.hasOwn(env, name) ? env[name] : undefined;
      if (filled === undefined) {
        problems.push({ path, message: `expected the environment variable ${name} to be set` });
        return match;
      }
      return filled;
    });

  const walk = (node: unknown, path: ConfigPath): unknown => {
    if (typeof node === 'string') return fill(node, path);
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item, [...path, key])]));
  };

  return { value: walk(value, []), problems };
}
