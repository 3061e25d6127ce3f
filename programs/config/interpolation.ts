import type { ConfigPath } from './yaml.ts';

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
