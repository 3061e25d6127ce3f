import { join } from 'node:path';
import type { Settings } from '../settings/environment.ts';
import type { BackupSources } from './backup-archive.ts';

type Copies = {
  /** Copies Temporal's database into a folder. */
  temporal?: ((folder: string) => Promise<void>) | undefined;
  /** Copies the platform's database to a new folder. */
  database?: ((folder: string) => Promise<void>) | undefined;
};

const TEMPORAL_FILES = ['', '-wal', '-journal'].map((suffix) => `temporal.db${suffix}`);

/**
 * What a backup of GALLEY_HOME holds. What variables keep elsewhere is left out, and so is what it replaced.
 * @param copies of the running servers; without any, none runs and their files are read as they are
 */
export function backupSources(settings: BackupSettings, { temporal, database }: Copies = {}): BackupSources {
  const { home, temporalConfigured, databaseUrl, adminApiUrl, objectStoreUrl } = settings;
  return {
    home,
    copies: [
      ...(temporal === undefined ? [] : [temporal]),
      ...(database === undefined ? [] : [(folder: string) => database(join(folder, 'database'))]),
    ],
    skipped: [
      // SQLite makes it again.
      'temporal.db-shm',
      ...(temporalConfigured || temporal ? TEMPORAL_FILES : []),
      ...(databaseUrl !== undefined || adminApiUrl !== undefined || database ? ['database'] : []),
      ...(objectStoreUrl !== undefined || adminApiUrl !== undefined ? ['objects'] : []),
    ],
  };
}

type BackupSettings = Pick<
  Settings,
  'home' | 'temporalConfigured' | 'databaseUrl' | 'adminApiUrl' | 'objectStoreUrl' | 'configPath'
>;

/** What operators have to back up by other means, in the order in which to do so. */
export function backedUpElsewhere(settings: BackupSettings): string[] {
  const { temporalConfigured, databaseUrl, adminApiUrl, objectStoreUrl } = settings;
  const isOwn = adminApiUrl === undefined;
  return [
    ...(temporalConfigured ? ["Temporal's database (TEMPORAL_ADDRESS), before this backup"] : []),
    ...(isOwn && databaseUrl !== undefined ? ['the database (DATABASE_URL), before this backup, with pg_dump'] : []),
    ...(isOwn && objectStoreUrl !== undefined ? ['the object store (OBJECT_STORE_URL), after the database'] : []),
    'galley.yaml, .env, and values files outside GALLEY_HOME',
  ];
}
