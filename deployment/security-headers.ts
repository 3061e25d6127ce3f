import picomatch from 'picomatch';
import type { DeploymentKind, HeaderRules } from '../contract/values-file.ts';

/** Header fields by name, in the spelling to send. */
export type Fields = Readonly<Record<string, string>>;

/**
 * Headers that don't change how an exported site works, but for being framed by another site. `headers` in the values
 * file changes or removes each.
 */
const DEFAULTS: Fields = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Permitted-Cross-Domain-Policies': 'none',
};

export type HeaderPolicy = {
  /** The headers of a response for this path (`/guides/start`): `own` ones, defaults and what the rules change. */
  headers(path: string, own: Fields): string[];
};

type PolicyOptions = { kind: DeploymentKind; rules: HeaderRules; apiPlayground: boolean };

export function createHeaderPolicy({ kind, rules, apiPlayground }: PolicyOptions): HeaderPolicy {
  const defaults = kind === 'air-gapped' ? { ...DEFAULTS, ...withoutOutside(apiPlayground) } : DEFAULTS;
  const matchers = Object.entries(rules).map(([pattern, fields]) => ({
    matches: picomatch(pattern, { dot: true }),
    fields: Object.entries(fields),
  }));
  return {
    headers(path, own) {
      const fields = new Map<string, [string, string]>();
      for (const [name, value] of Object.entries({ ...defaults, ...own }))
        fields.set(name.toLowerCase(), [name, value]);
      for (const { matches, fields: changes } of matchers) {
        if (!matches(path)) continue;
        for (const [name, value] of changes) {
          if (value === null) fields.delete(name.toLowerCase());
          else fields.set(name.toLowerCase(), [name, value]);
        }
      }
      return [...fields.values()].flat();
    },
  };
}

/**
 * Pages of an air-gapped deployment must not request other hosts, whatever their scripts were written for. Requests of
 * an API playground are the exception.
 */
function withoutOutside(apiPlayground: boolean): Fields {
  const own = "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'";
  return { 'Content-Security-Policy': apiPlayground ? `${own}; connect-src 'self' http: https:` : own };
}
