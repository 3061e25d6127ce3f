import { and, desc, eq, gte, lt } from 'drizzle-orm';
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

/** The name of who did something to `target` last, such as started an export; undefined if that isn't recorded. */
export async function findActor(
  db: Executor,
  { organizationId, action, target }: Pick<AuditEntry, 'organizationId' | 'action' | 'target'>,
): Promise<Pick<Actor, 'kind' | 'name'> | undefined> {
  const isIt = and(
    eq(auditLog.organizationId, organizationId),
    eq(auditLog.action, action),
    eq(auditLog.target, target),
  );
  const columns = { kind: auditLog.actorKind, name: auditLog.actorName };
  const [row] = await db.select(columns).from(auditLog).where(isIt).orderBy(desc(auditLog.id)).limit(1);
  return row;
}

export type AuditFilter = {
  /** The actor's name. */
  person?: string | undefined;
  from?: Date | undefined;
  /** Exclusive. */
  until?: Date | undefined;
};

type AuditQuery = AuditFilter & { organizationId: string; beforeId: number | undefined; limit: number };

/** Newest first. `beforeId`: only entries older than that one. */
export async function listActions(
  db: Executor,
  { organizationId, beforeId, person, from, until, limit }: AuditQuery,
): Promise<AuditRow[]> {
  return db
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.organizationId, organizationId),
        beforeId === undefined ? undefined : lt(auditLog.id, beforeId),
        person === undefined ? undefined : eq(auditLog.actorName, person),
        from === undefined ? undefined : gte(auditLog.at, from),
        until === undefined ? undefined : lt(auditLog.at, until),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(limit);
}

const MAX_ACTORS = 500;

/** Everyone who did something, also those who left. */
export async function listActorNames(db: Executor, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectDistinct({ name: auditLog.actorName })
    .from(auditLog)
    .where(eq(auditLog.organizationId, organizationId))
    .orderBy(auditLog.actorName)
    .limit(MAX_ACTORS);
  return rows.map(({ name }) => name);
}
