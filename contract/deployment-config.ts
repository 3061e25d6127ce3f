import { z } from 'zod';
import { sha256Hex } from '../base/sha256.ts';
import { positiveDurationMs } from './duration.ts';
import { httpUrl } from './http-url.ts';
import { type SettingsOf, TARGET_KINDS, TARGETS, type TargetKind, targetSettings } from './target-kind.ts';

/** An entry of `deployments` in galley.yaml: one target of exactly one kind, and how it is confirmed. */

const hostName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/i, 'expected the name that a worker has as --deployment-host');

const statusUrl = z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' });

const ON_DISK = TARGET_KINDS.filter((kind) => TARGETS[kind].isOnDisk);

export const deploymentConfig = z
  .strictObject(targetSettings)
  .partial()
  .extend({
    /** The machine with the file or folder, if workers run on several. */
    host: hostName.optional(),
    /** What people call it; its place by default. */
    name: z.string().trim().min(1).max(200).optional(),
    /** It gets the newest version that all deployments of earlier waves have. */
    wave: z.int().min(1).max(100).optional(),
    /** A person approves each version before it is written here. */
    approve: z.boolean().optional(),
    /** False: no `integrity` is written with links, and none is checked. */
    integrity: z.boolean().optional(),
    /** What visitors open; the origin of `statusUrl` by default. */
    url: httpUrl.optional(),
    /** The `/-/status` of the deployment, or of each of its replicas. */
    statusUrl: z.union([statusUrl, z.array(statusUrl).min(1)]).optional(),
    /** How long it may take until each of them serves a new version. */
    confirmWithin: positiveDurationMs.optional(),
    /** `auto`: if it takes longer, the version before it is deployed again. */
    rollback: z.enum(['auto', 'never']).optional(),
  })
  .superRefine((entry, context) => {
    const problem = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [key], message });
    };
    const [kind, second] = TARGET_KINDS.filter((each) => entry[each] !== undefined);
    if (kind === undefined) problem('valuesFile', `expected one of ${TARGET_KINDS.join(', ')}`);
    else if (second !== undefined) problem(second, `expected one target per entry: it has ${kind} already`);
    if (entry.host !== undefined && kind !== undefined && !TARGETS[kind].isOnDisk) {
      problem('host', `expected only with ${ON_DISK.join(', ')}: any worker can write to ${kind}`);
    }
    if (entry.statusUrl !== undefined) return;
    for (const key of ['confirmWithin', 'rollback'] as const) {
      if (entry[key] !== undefined) problem(key, 'expected only with a statusUrl');
    }
  });
export type DeploymentConfig = z.infer<typeof deploymentConfig>;

/** One target with the settings of its kind. */
export type TargetConfig<Kind extends TargetKind = TargetKind> = {
  [Each in Kind]: { kind: Each; settings: SettingsOf<Each> };
}[Kind];

/** @throws Error if `entry` isn't a checked one */
export function targetOf(entry: DeploymentConfig): TargetConfig {
  const kind = TARGET_KINDS.find((each) => entry[each] !== undefined);
  const target = kind && ofKind(entry, kind);
  if (target === undefined) throw new Error('a deployment without a target: deploymentConfig should have rejected it');
  return target;
}

function ofKind<Kind extends TargetKind>(
  entry: { [Each in TargetKind]?: SettingsOf<Each> | undefined },
  kind: Kind,
): TargetConfig<Kind> | undefined {
  const settings = entry[kind];
  return settings === undefined ? undefined : { kind, settings };
}

/** See `place` of a kind. A values file's place is its path. */
export function deploymentPlace(entry: DeploymentConfig): string {
  return placeOf(targetOf(entry), entry.host === undefined ? '' : `${entry.host}:`);
}

function placeOf<Kind extends TargetKind>({ kind, settings }: TargetConfig<Kind>, on: string): string {
  return TARGETS[kind].place(settings, { on, digest: sha256Hex });
}

/** What people call it: unique in its site. */
export function deploymentName(entry: DeploymentConfig): string {
  return entry.name ?? deploymentPlace(entry);
}

/** What visitors open; null if unknown. */
export function deploymentUrl({ url, statusUrl }: DeploymentConfig): string | null {
  const [first] = [statusUrl ?? []].flat();
  return url ?? (first === undefined ? null : new URL(first).origin);
}

/** The values files of these deployments that are on this worker's own disk. */
export function localValuesFiles(entries: readonly DeploymentConfig[]): string[] {
  return entries.flatMap(({ valuesFile, host }) =>
    valuesFile === undefined || host !== undefined ? [] : [valuesFile],
  );
}
