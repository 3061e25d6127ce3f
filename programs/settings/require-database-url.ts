import { ConfigurationError } from '../../contract/configuration-error.ts';
import type { Settings } from './environment.ts';

/** @throws ConfigurationError without DATABASE_URL; call it before a program's modules are loaded, which takes seconds. */
export function requireDatabaseUrl({ databaseUrl }: Pick<Settings, 'databaseUrl'>): string {
  if (databaseUrl !== undefined) return databaseUrl;
  throw new ConfigurationError([
    'DATABASE_URL: expected postgres://user:password@host/name (only `galley up` brings a database of its own)',
  ]);
}
