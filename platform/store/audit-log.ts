import { and, desc, eq, lt } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { auditLog } from './schema/members.ts';
import { storableText } from './storable-text.ts';

/** Who did something: a member, an API key, or someone with the operator token. */
export type Actor = { kind: 'member' | 'key' | 'operator'; id: string; name: string };

export type AuditRow = typeof auditLog.$inferSelect;

type AuditEntry = {
  organizationId: string;
  actor: Actor;
  /** Such as `export.start`. */
  action: string;
  target: string;
  detail?: string | undefined;
};

const MAX_DETAIL = 500;

export async function recordAction(db: Executor, { organizationId, actor, ...entry }: AuditEntry): Promise<void> {
  await db.insert(auditLog).values({
    organizationId,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    action: entry.action,
    target: entry.target,
    detail: entry.detail === undefined ? null : storableText(entry.detail).slice(0, MAX_DETAIL),
  });
}

/** Newest first. `beforeId`: only entries older than that one. */
export async function listActions(
  db: Executor,
  { organizationId, beforeId, limit }: { organizationId: string; beforeId: number | undefined; limit: number },
): Promise<AuditRow[]> {
  return db
    .select()
    .from(auditLog)
    .where(
      and(eq(auditLog.organizationId, organizationId), beforeId === undefined ? undefined : lt(auditLog.id, beforeId)),
    )
    .orderBy(desc(auditLog.id))
    .limit(limit);
}
