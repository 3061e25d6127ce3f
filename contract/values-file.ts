import { z } from 'zod';
import { integrityText } from './integrity.ts';

/** Values files have a few kilobytes. A larger one is neither edited nor read: YAML of many megabytes takes minutes. */
export const MAX_VALUES_BYTES = 1024 * 1024;

/**
 * The group of a deployment's values file that Galley uses: docs/reference/values-file.md. The orchestrator writes
 * `enabled`, `bundleUrl` and `integrity`, the only manifest that the deployment accepts from the link. `version` is the
 * operator's pin, `publicKey` the only key whose signatures on bundles it accepts (`createVerifier`).
 */
export const staticExportValues = z.object({
  enabled: z.boolean(),
  bundleUrl: z.url({ protocol: /^(https?|file)$/ }).optional(),
  version: z.coerce.string().min(1).optional(),
  publicKey: z.string().optional(),
  integrity: integrityText.optional(),
});

/** Whether a value of `enabled` means false to Helm, whose YAML is 1.1, or is written as a text. */
export function isSwitchedOff(enabled: unknown): boolean {
  return enabled === false || enabled === 0 || (typeof enabled === 'string' && /^(?:false|off|no|n)$/i.test(enabled));
}

export const DEPLOYMENT_KINDS = ['cloud', 'client-hosted', 'air-gapped'] as const;
export type DeploymentKind = (typeof DEPLOYMENT_KINDS)[number];

/** Features that not every kind of deployment has. */
export const FEATURES = ['staticExport', 'search', 'aiAssistant', 'webAnalytics', 'apiPlayground'] as const;
export type Feature = (typeof FEATURES)[number];

export type Availability = 'yes' | 'configurable' | 'no';

/** Which kind of deployment has which feature: docs/guide/deployment.md has the table. */
export const AVAILABILITY: Record<DeploymentKind, Record<Feature, Availability>> = {
  cloud: { staticExport: 'yes', search: 'yes', aiAssistant: 'yes', webAnalytics: 'yes', apiPlayground: 'yes' },
  'client-hosted': {
    staticExport: 'yes',
    search: 'configurable',
    aiAssistant: 'configurable',
    webAnalytics: 'configurable',
    apiPlayground: 'yes',
  },
  'air-gapped': {
    staticExport: 'yes',
    search: 'no',
    aiAssistant: 'no',
    webAnalytics: 'no',
    apiPlayground: 'configurable',
  },
};

/** Fields that describe the bytes sent, which only the deployment knows. */
const RESERVED = /^(?:connection|content-(?:encoding|length|range)|date|etag|accept-ranges|transfer-encoding|vary)$/i;

const fieldName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected the name of a header')
  .refine((name) => !RESERVED.test(name), 'expected another header: the deployment sets this one itself');
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const fieldValue = z.string().regex(/^[^\u0000-\u001f\u007f-\uffff]*$/, 'expected printable ASCII characters');

/** The syntax of `createGlob`. Operators who know other globs expect more, so an unknown wildcard isn't taken literally. */
const pathPattern = z
  .string()
  .startsWith('/', 'expected a pattern such as "/**"')
  .regex(/^(?:[^[\]{}()!\\]|\\.)*$/s, 'expected no other wildcards than *, ** and ?');

/** Maps patterns of paths (`/assets/**`) to headers that are set, or removed (`null`). Later patterns win. */
const headerRules = z.record(pathPattern, z.record(fieldName, fieldValue.nullable()));
export type HeaderRules = z.infer<typeof headerRules>;

/** The operator's settings of a deployment; other keys of this group, such as a chart's own, are ignored. */
export const deploymentValues = z.object({
  kind: z.enum(DEPLOYMENT_KINDS).default('client-hosted'),
  /** Switches for configurable features. */
  features: z.partialRecord(z.enum(FEATURES), z.boolean()).default({}),
  headers: headerRules.default({}),
});
export type DeploymentValues = z.infer<typeof deploymentValues>;

/** A values file: all other keys stay unchanged. */
export const valuesFile = z.looseObject({ staticExport: staticExportValues.optional() });
