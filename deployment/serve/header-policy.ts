import { createGlob } from '../../base/glob.ts';
import { SECURITY_HEADERS } from '../../contract/response-headers.ts';
import type { DeploymentKind, HeaderRules } from '../../contract/values-file.ts';

/** Header fields by name, in the spelling to send. */
export type Fields = Readonly<Record<string, string>>;

export type HeaderPolicy = {
  /** The headers of a response for this path (`/guides/start`): `own` ones, defaults and what the rules change. */
  headers(path: string, own: Fields): string[];
};

type PolicyOptions = { kind: DeploymentKind; rules: HeaderRules; apiPlayground: boolean };

export function createHeaderPolicy({ kind, rules, apiPlayground }: PolicyOptions): HeaderPolicy {
  const defaults: Fields =
    kind === 'air-gapped' ? { ...SECURITY_HEADERS, ...withoutOutside(apiPlayground) } : SECURITY_HEADERS;
  const matchers = Object.entries(rules).map(([pattern, fields]) => ({
    matches: createGlob(pattern),
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
