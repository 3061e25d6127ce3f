import { startEmbeddedDatabase } from '../../embedded/database/embedded-database.ts';
import { type DatabaseOptions, openDatabase } from '../../platform/store/database.ts';
import { CommandError } from '../command-error.ts';
import { type Context, createContext } from '../context.ts';
import { openHome } from '../home.ts';
import type { Admin } from './admin.ts';
import { adminOnDatabase } from './admin-on-database.ts';
import { adminOverHttp } from './admin-over-http.ts';

export const OPERATOR_TOKEN_FILE = 'operator-token';

/** A command shouldn't wait for ever for a database that isn't there, as a service does. */
const OPEN_TIMEOUT_MS = 15_000;

/**
 * Runs `use` on the platform's database: directly on DATABASE_URL; on the embedded one through the running `up`, or,
 * where none runs, by opening it for the moment.
 */
export async function withAdmin(use: (admin: Admin) => Promise<void>): Promise<void> {
  const context = createContext();
  const { settings } = context;
  if (settings.databaseUrl !== undefined) return await onDatabase({ url: settings.databaseUrl }, context, use);
  const home = openHome(settings.home);
  const running = await home.running();
  if (running !== undefined) {
    const token = settings.operatorToken ?? (await home.readSecret(OPERATOR_TOKEN_FILE));
    if (token === undefined)
      throw new CommandError(`${settings.home} holds no operator token of the running galley up`);
    return await use(adminOverHttp({ platformUrl: running.platform, token }));
  }
  const unlock = await home.lock();
  try {
    const { url, maxConnections, stop } = await startEmbeddedDatabase(settings.home);
    try {
      await onDatabase({ url, maxConnections }, context, use);
    } finally {
      await stop();
    }
  } finally {
    await unlock();
  }
}

async function onDatabase(
  target: Pick<DatabaseOptions, 'url' | 'maxConnections'>,
  { logger }: Context,
  use: (admin: Admin) => Promise<void>,
): Promise<void> {
  const db = await openDatabase({ ...target, logger, signal: AbortSignal.timeout(OPEN_TIMEOUT_MS) }).catch(
    (error: unknown) => {
      if (error instanceof DOMException && error.name === 'TimeoutError')
        throw new CommandError(
          `The database can't be reached (tried for ${OPEN_TIMEOUT_MS / 1000} s): see DATABASE_URL`,
        );
      throw error;
    },
  );
  try {
    await use(adminOnDatabase(db));
  } finally {
    await db.close();
  }
}
