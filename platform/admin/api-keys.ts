import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { HttpError } from '../../contract/http-error.ts';
import { insertApiKey, listApiKeys, revokeApiKey } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';
import { ensureOrganization } from '../store/organizations.ts';
import { plan } from './organizations.ts';
import { label } from './text.ts';

export const API_KEY_PREFIX = 'galley_';

/** As much of a key as is kept and shown, so that people can tell which one it is. */
const SHOWN_CHARACTERS = API_KEY_PREFIX.length + 6;

/** The database can't even look for some texts, such as one with a NUL. */
const KEY_ID = /^key_[\w-]{1,60}$/;

export const createKeyRequest = z.strictObject({
  organization: label,
  plan: plan.optional(),
  name: label.optional(),
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
  createdAt: z.string(),
  revokedAt: z.string().nullable(),
});
export type KeyListing = z.infer<typeof keyListing>;

/** How a key is found again: a key has 256 random bits, so a plain hash gives nothing away. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/**
 * Creates a key, and its organization if there is none (plan `enterprise` by default). The key is in this answer and
 * nowhere else. Throws an `HttpError` 400 if the organization exists with another plan: a key must not change the plan
 * of everyone else's.
 */
export async function createKey(db: Database, request: CreateKeyRequest): Promise<CreatedKey> {
  const key = API_KEY_PREFIX + randomBytes(32).toString('base64url');
  return db.transaction(async (tx) => {
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
      prefix: key.slice(0, SHOWN_CHARACTERS),
      sha256: hashApiKey(key),
    });
    return { id, key, organization: organization.name };
  });
}

/** All keys, or an organization's, newest first, without what they open. Times are RFC 3339. */
export async function listKeys(
  db: Database,
  filter: { organization?: string | undefined } = {},
): Promise<KeyListing[]> {
  const rows = await listApiKeys(db, filter);
  return rows.map((row) => ({
    ...row,
    createdAt: row.createdAt.toISOString(),
    revokedAt: row.revokedAt?.toISOString() ?? null,
  }));
}

/** Revokes a key from now on; again is no error. Throws an `HttpError` 404 where there is no such key. */
export async function revokeKey(db: Database, id: string): Promise<{ id: string; revokedAt: string }> {
  const revoked = KEY_ID.test(id) ? await revokeApiKey(db, id) : undefined;
  if (revoked === undefined) {
    throw new HttpError(404, `There is no key ${id.slice(0, 60)}: galley keys list shows their ids`);
  }
  return { id: revoked.id, revokedAt: revoked.revokedAt.toISOString() };
}
