import { z } from 'zod';
import { isAddressRange } from '../../base/ip-address.ts';
import { HttpError } from '../../web/http-error.ts';
import {
  type ApiKeyRow,
  type Caller,
  expireApiKey,
  findKey,
  findOrganizationKey,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
} from '../store/api-keys.ts';
import { recordAction } from '../store/audit-log.ts';
import type { Database, Executor } from '../store/database.ts';
import { ensureOrganization } from '../store/organizations.ts';
import { getProject } from '../store/projects.ts';
import { hashApiKey, isApiKeyText, makeApiKey, shownPart } from './api-key-text.ts';
import { plan } from './organizations.ts';
import { projectId } from './project-requests.ts';
import { label } from './text.ts';

/** The database can't even look for some texts, such as one with a NUL. */
const KEY_ID = /^key_[\w-]{1,60}$/;

/** What limits a key: the scope `read`, and one project. */
const scopes = {
  scope: z.enum(['read'], { error: 'expected read' }).optional(),
  project: projectId.optional(),
};

export const createKeyRequest = z.strictObject({
  organization: label,
  plan: plan.optional(),
  name: label.optional(),
  /** A key that was made before, as by `galley init --compose`. */
  key: z.string().optional(),
  ...scopes,
});
export type CreateKeyRequest = z.infer<typeof createKeyRequest>;

export const createdKey = z.object({ id: z.string(), key: z.string(), organization: z.string() });
export type CreatedKey = z.infer<typeof createdKey>;

export const keyListing = z.object({
  id: z.string(),
  organization: z.string(),
  plan,
  name: z.string().nullable(),
  prefix: z.string(),
  /** Null: it may change things, too. */
  scope: z.enum(['read']).nullable(),
  /** Null: all of the organization's. */
  project: z.string().nullable(),
  createdAt: z.string(),
  /** The member's email; null: an operator created it. */
  createdBy: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
});
export type KeyListing = z.infer<typeof keyListing>;

/**
 * Creates a key, and its organization if there is none (plan `enterprise` by default). The key is in this answer and
 * nowhere else. A given key that there is stays as it is, with its organization. Throws an `HttpError` 400 if it was revoked, if the organization exists with another plan (a key must not change the plan
 * of everyone else's), or if the project isn't the organization's.
 */
export async function createKey(db: Database, request: CreateKeyRequest): Promise<CreatedKey> {
  const { key = makeApiKey() } = request;
  if (!isApiKeyText(key)) throw new HttpError(400, 'key: expected a key that Galley made');
  return db.transaction(async (tx) => {
    const known = request.key === undefined ? undefined : await findKey(tx, hashApiKey(key));
    if (known?.revokedAt) throw new HttpError(400, `key: ${known.id} was revoked`);
    if (known !== undefined) return { id: known.id, key, organization: known.organization };
    const organization = await ensureOrganization(tx, {
      name: request.organization,
      plan: request.plan ?? 'enterprise',
    });
    if (request.plan !== undefined && request.plan !== organization.plan) {
      const { name } = organization;
      const change = `galley organizations set ${JSON.stringify(name)} --plan ${request.plan}`;
      throw new HttpError(400, `plan: ${name} has the plan ${organization.plan}. To change it, run: ${change}`);
    }
    const { id } = await insertApiKey(tx, {
      organizationId: organization.id,
      name: request.name ?? null,
      prefix: shownPart(key),
      sha256: hashApiKey(key),
      ...(await scopeColumns(tx, organization.id, request)),
    });
    return { id, key, organization: organization.name };
  });
}

async function scopeColumns(
  db: Executor,
  organizationId: string,
  { scope, project }: { scope?: 'read' | undefined; project?: string | undefined },
): Promise<{ readOnly: boolean; projectId: string | null }> {
  const found = project === undefined ? undefined : await getProject(db, project);
  if (project !== undefined && found?.organizationId !== organizationId) {
    throw new HttpError(400, `project: the organization has no project ${project}`);
  }
  return { readOnly: scope === 'read', projectId: project ?? null };
}

/** All keys, or an organization's, newest first, without what they open. Times are RFC 3339. */
export async function listKeys(
  db: Database,
  filter: { organization?: string | undefined } = {},
): Promise<KeyListing[]> {
  const rows = await listApiKeys(db, filter);
  return rows.map(({ readOnly, ...row }) => ({
    ...row,
    scope: readOnly ? 'read' : null,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
  }));
}

/** Revokes a key from now on; again is no error. Throws an `HttpError` 404 if there is no such key. */
export async function revokeKey(db: Database, id: string): Promise<{ id: string; revokedAt: string }> {
  const revoked = KEY_ID.test(id) ? await revokeApiKey(db, id) : undefined;
  if (revoked === undefined) {
    throw new HttpError(404, `There is no key ${id.slice(0, 60)}: galley keys list shows their ids`);
  }
  return { id: revoked.id, revokedAt: revoked.revokedAt.toISOString() };
}

/** An IP address, or a range such as `10.0.0.0/8`. */
const addressRange = z
  .string()
  .refine(isAddressRange, 'expected addresses or ranges such as 203.0.113.7 or 10.0.0.0/8');

export const createOwnKeyRequest = z.strictObject({
  name: label,
  /** Days until the key expires; undefined: never. */
  days: z.int().min(1).max(3_650).optional(),
  /** Undefined: any address may use it. */
  addresses: z.array(addressRange).min(1).max(50).optional(),
  ...scopes,
});
type CreateOwnKeyRequest = z.infer<typeof createOwnKeyRequest>;

const DAY_MS = 86_400_000;

/** Creates a key of the caller's organization. The key is in this answer and nowhere else. */
export async function createOwnKey(
  db: Database,
  caller: Caller,
  { name, days, addresses, ...limits }: CreateOwnKeyRequest,
): Promise<{ id: string; key: string }> {
  const key = makeApiKey();
  return db.transaction(async (tx) => {
    const { id } = await insertApiKey(tx, {
      organizationId: caller.organizationId,
      name,
      prefix: shownPart(key),
      sha256: hashApiKey(key),
      createdBy: caller.actor.name,
      expiresAt: days === undefined ? null : new Date(Date.now() + days * DAY_MS),
      allowedAddresses: addresses ?? null,
      ...(await scopeColumns(tx, caller.organizationId, limits)),
    });
    await recordAction(tx, { ...caller, action: 'key.create', target: id, detail: name });
    return { id, key };
  });
}

/** How long both keys are valid: programs get the new one in the meantime. */
export const rotateOwnKeyRequest = z.strictObject({ days: z.int().min(1).max(90) });

/**
 * Creates a key with the limits of another, also as long as that one was valid, and lets that one end after `days`.
 * Throws an `HttpError`: 404 (no such key), 409 (it has ended).
 */
export async function rotateOwnKey(
  db: Database,
  caller: Caller,
  { id: oldId, days }: z.infer<typeof rotateOwnKeyRequest> & { id: string },
): Promise<{ id: string; key: string }> {
  const old = await findOwnKey(db, caller, oldId);
  const now = Date.now();
  const { name, projectId, readOnly, allowedAddresses, createdAt, expiresAt } = old;
  if (old.revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= now)) {
    throw new HttpError(409, 'This key has ended: create a new one');
  }
  const key = makeApiKey();
  return db.transaction(async (tx) => {
    const { id } = await insertApiKey(tx, {
      ...{ organizationId: caller.organizationId, name, projectId, readOnly, allowedAddresses },
      ...{ prefix: shownPart(key), sha256: hashApiKey(key), createdBy: caller.actor.name },
      expiresAt: expiresAt && new Date(now + expiresAt.getTime() - createdAt.getTime()),
    });
    await expireApiKey(tx, { id: oldId, at: new Date(now + days * DAY_MS) });
    const detail = `by ${id}; the old one ends in ${days} ${days === 1 ? 'day' : 'days'}`;
    await recordAction(tx, { ...caller, action: 'key.rotate', target: oldId, detail });
    return { id, key };
  });
}

/** Throws an `HttpError` 404 if the caller's organization has no key of that id. */
export async function findOwnKey(db: Executor, { organizationId }: Caller, id: string): Promise<ApiKeyRow> {
  const key = KEY_ID.test(id) ? await findOrganizationKey(db, { organizationId, id }) : undefined;
  if (key === undefined) throw new HttpError(404, 'There is no such key');
  return key;
}

/** Revokes a key of the caller's organization. Throws an `HttpError` 404 if it has none of that id. */
export async function revokeOwnKey(db: Database, caller: Caller, id: string): Promise<void> {
  const key = await findOwnKey(db, caller, id);
  if (key.revokedAt !== null) return;
  await db.transaction(async (tx) => {
    await revokeApiKey(tx, id);
    await recordAction(tx, { ...caller, action: 'key.revoke', target: id, detail: key.name ?? key.prefix });
  });
}
