import { randomUUID } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import nodemailer from 'nodemailer';
import pg from 'pg';
import { nearestFolder } from '../../activities/deployments/check-folder.ts';
import { errorCode, errorText } from '../../base/error-code.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import { forgeUrls } from '../../forge/hosted/forge-urls.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { probe } from './probe.ts';
import { reasonOf } from './site-origin.ts';

const TIMEOUT_MS = 10_000;
/** Servers' clocks are read to the second, and a response takes time. */
const TOLERANCE_MS = 5_000;
/** Contentful's signed times may be this old. */
const TOO_FAR_MS = 30_000;

/** Whether PostgreSQL responds, and how far its clock is away. */
export async function checkDatabase(url: string): Promise<Finding[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    application_name: 'galley-doctor',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; now: Date }>(
      "select current_setting('server_version') as version, clock_timestamp() as now",
    );
    const [row] = rows;
    return [
      ok('database', `PostgreSQL ${row?.version ?? ''} responds`),
      ...(row === undefined ? [] : [describeClock('the database', row.now.getTime() - Date.now())]),
    ];
  } catch (error) {
    return [fail('database', `does not respond (${reasonOf(error)})`, 'Check DATABASE_URL and that the server runs.')];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether objects can be written: stores and deletes a small one, or looks at the permissions of a folder. */
export async function checkObjectStore(url: string): Promise<Finding> {
  const check = 'object-store';
  try {
    if (url.startsWith('file:')) {
      await access(await nearestFolder(fileURLToPath(url)), constants.W_OK | constants.X_OK);
      return ok(check, `${url} can be written`);
    }
    const store = await createObjectStore({ url });
    try {
      const key = `doctor/${randomUUID()}`;
      await store.put(key, Buffer.from('galley doctor'), { contentType: 'text/plain' });
      await store.delete([key]);
    } finally {
      await store.close();
    }
    return ok(check, `${withoutQuery(url)} can be written`);
  } catch (error) {
    const reason = `${withoutQuery(url)} can't be written (${errorCode(error) ?? errorText(error)})`;
    return fail(check, reason, 'Check OBJECT_STORE_URL, the credentials and their permissions.');
  }
}

/** Whether the mail server accepts a connection and, if the URL has them, user and password. Sends nothing. */
export async function checkSmtp({ url }: NonNullable<GalleyConfig['smtp']>): Promise<Finding> {
  const { host } = new URL(url);
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const transport = nodemailer.createTransport({ url, ...timeouts });
  try {
    await transport.verify();
    return ok('smtp', `${host} responds`);
  } catch (error) {
    return fail('smtp', `${host}: ${errorText(error)}`, 'Check smtp.url, its user and password.');
  } finally {
    transport.close();
  }
}

interface ForgeAccess {
  check: string;
  kind: 'github' | 'gitea';
  url: string | undefined;
  token: string;
  /** The setting that has the token. */
  setting: string;
}

/** Whether the forge accepts the token. */
export async function checkForge({ check, kind, url, token, setting }: ForgeAccess): Promise<Finding> {
  let base = url ?? kind;
  try {
    base = forgeUrls(kind, url).apiUrl;
    const { status } = await probe(`${base}/user`, { authorization: `token ${token}`, accept: 'application/json' });
    if (status === 401) return fail(check, `${base} rejects the token (401)`, `Set ${setting} to a valid token.`);
    // The token of a GitHub App may not read its user.
    if (status === 200 || status === 403) return ok(check, `${base} accepts the token`);
    return warn(check, `${base}/user responds ${status}`, 'Check the URL of the forge.');
  } catch (error) {
    return fail(check, `${base} can't be reached (${reasonOf(error)})`, 'Check the URL of the forge.');
  }
}

/** Compares this machine's clock with the `Date` of a response; nothing if there is none. */
export async function checkClock(name: string, url: string): Promise<Finding[]> {
  try {
    const askedMs = Date.now();
    const { headers } = await probe(url);
    const dateMs = Date.parse(headers.get('date') ?? '');
    return Number.isNaN(dateMs) ? [] : [describeClock(name, dateMs - (askedMs + Date.now()) / 2)];
  } catch {
    // Another check says that it doesn't respond.
    return [];
  }
}

export function describeClock(name: string, offsetMs: number): Finding {
  const check = 'clock';
  const seconds = Math.round(Math.abs(offsetMs) / 1000);
  const fix = 'Synchronize the clock of this machine (NTP): signed webhooks are rejected if it is wrong.';
  if (Math.abs(offsetMs) <= TOLERANCE_MS) return ok(check, `agrees with ${name}`);
  const message = `this machine is ${seconds} s ${offsetMs > 0 ? 'behind' : 'ahead of'} ${name}`;
  return Math.abs(offsetMs) > TOO_FAR_MS ? fail(check, message, fix) : warn(check, message, fix);
}

function withoutQuery(url: string): string {
  return url.split('?')[0] ?? '';
}
