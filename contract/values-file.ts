import { z } from 'zod';

/**
 * The group of a deployment's values file that Galley uses (seed, "Use of a bundle in a self-hosted deployment"). The
 * orchestrator writes `enabled` and `bundleUrl`; `version` is the operator's pin.
 */
export const staticExportValues = z.object({
  enabled: z.boolean(),
  bundleUrl: z.url({ protocol: /^(https?|file)$/ }).optional(),
  version: z.coerce.string().min(1).optional(),
});

/** A values file: all other keys stay unchanged. */
export const valuesFile = z.looseObject({ staticExport: staticExportValues.optional() });
