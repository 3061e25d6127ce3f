import { TARGET_KINDS, TARGETS, type TargetKind } from './target-kind.ts';

/**
 * What the activities of an orchestrator wait for, besides deployments, and how many of them wait at a time on one
 * worker. Each pool has its own task queue, so an outside system that hangs uses up its own slots only.
 */
export const SYSTEM_POOLS = [
  { name: 'admin-api', slots: 100 },
  { name: 'mail', slots: 30 },
  /** Mails with a link that the forge may have to make. */
  { name: 'review-mail', slots: 30 },
  { name: 'forge', slots: 30 },
  /** Reading galley.yaml. */
  { name: 'settings', slots: 30 },
  /** Asking deployments what they serve. */
  { name: 'status', slots: 100 },
] as const;
export type SystemPool = (typeof SYSTEM_POOLS)[number]['name'];

export type Pool = SystemPool | `deployments-${TargetKind}`;

/** The pool that writes to deployments of a kind and reads their pins. */
export function deploymentPool(kind: TargetKind): Pool {
  return `deployments-${kind}`;
}

/** All pools. Each kind of deployment has one. */
export const POOLS: readonly { name: Pool; slots: number }[] = [
  ...SYSTEM_POOLS,
  ...TARGET_KINDS.map((kind) => ({ name: deploymentPool(kind), slots: TARGETS[kind].slots })),
];

export function slotsOf(pool: Pool): number {
  return POOLS.find(({ name }) => name === pool)?.slots ?? 1;
}
