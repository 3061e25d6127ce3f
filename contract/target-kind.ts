import { z } from 'zod';

/**
 * How a deployment gets a version: the keys of an entry of `deployments` in galley.yaml. docs/development.md says how to
 * add one.
 */
export const TARGET_KINDS = ['valuesFile', 'git', 'helm', 'http', 'directory', 's3', 'airgap'] as const;
export const targetKind = z.enum(TARGET_KINDS);
export type TargetKind = z.infer<typeof targetKind>;

/** Whether the deployment keeps the link, which expires. The others hold the files themselves. */
export function holdsLink(kind: TargetKind): boolean {
  return kind === 'valuesFile' || kind === 'git' || kind === 'helm' || kind === 'http';
}
