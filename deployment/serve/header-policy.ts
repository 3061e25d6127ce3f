import { createGlob } from '../../base/glob.ts';
import { SECURITY_HEADERS } from '../../contract/response-headers.ts';
import type { DeploymentKind, HeaderRules } from '../../contract/values-file.ts';
import type { ForeignHeaders } from '../site.ts';

/** Header fields by name, in the spelling to send. */
export type Fields = Readonly<Record<string, string>>;

export type HeaderPolicy = {
  /**
   * The headers of a response for this path (`/guides/start`): `own` ones, defaults and what the bundle's and the operator's
   * rules change.
   */
  headers(path: string, own: Fields, bundled?: ForeignHeaders): string[];
};

type PolicyOptions = { kind: DeploymentKind; rules: HeaderRules; apiPlayground: boolean };

export function createHeaderPolicy({ kind, rules, apiPlayground }: PolicyOptions): HeaderPolicy {
  const restrictions: Fields = kind === 'air-gapped' ? withoutOutside(apiPlayground) : {};
  const restricted = new Set(Object.keys(restrictions).map((name) => name.toLowerCase()));
  const defaults: Fields = { ...SECURITY_HEADERS, ...restrictions };
  const matchers = Object.entries(rules).map(([pattern, fields]) => ({
    matches: createGlob(pattern),
    fields: Object.entries(fields),
  }));
  return {
    headers(path, own, { set, unset } = { set: {}, unset: [] }) {
      const fields = new Map<string, [string, string]>();
      for (const [name, value] of Object.entries({ ...defaults, ...own }))
        fields.set(name.toLowerCase(), [name, value]);
      // No bundle opens an air-gapped deployment.
      for (const name of unset) if (!restricted.has(name.toLowerCase())) fields.delete(name.toLowerCase());
      for (const [name, value] of Object.entries(set))
        if (!restricted.has(name.toLowerCase())) fields.set(name.toLowerCase(), [name, value]);
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
