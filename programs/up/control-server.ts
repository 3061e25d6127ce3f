import type { IncomingMessage, RequestListener } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { errorText } from '../../base/error-code.ts';
import { type BackupSources, createBackup } from '../process/backup-archive.ts';
import type { Lifetime } from '../process/lifetime.ts';
import { serve } from '../process/serve.ts';

type ControlOptions = {
  operatorToken: string;
  sources: BackupSources;
  /** Makes deletions of objects wait until the returned function is called. */
  holdDeletes(): () => void;
};

const BACKUP_PATH = '/backup';

/**
 * Serves backups, which hold all secrets, to commands on this machine: never on an address that others reach. Returns
 * the server's URL.
 */
export async function startControlServer(
  options: ControlOptions,
  { logger, lifetime }: { logger: Logger; lifetime: Lifetime },
): Promise<string> {
  const service = await serve(backupListener(options, logger), { host: '127.0.0.1', port: 0, variable: 'port 0' });
  lifetime.onStop('control server', service.stop);
  return service.url;
}

function backupListener({ operatorToken, sources, holdDeletes }: ControlOptions, logger: Logger): RequestListener {
  let isRunning = false;
  const refusalOf = ({ method, url, headers }: IncomingMessage): [status: number, error: string] | undefined => {
    if (method !== 'POST' || url !== BACKUP_PATH) return [404, 'There is nothing here'];
    const given = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!equalInConstantTime(given, operatorToken)) return [401, 'the operator token is missing or wrong'];
    return isRunning ? [409, 'Another backup is running: try again when it has ended'] : undefined;
  };
  return async (request, response) => {
    const [status, error] = refusalOf(request) ?? [];
    if (status !== undefined) {
      response
        .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
        .end(JSON.stringify({ error }));
      return;
    }
    isRunning = true;
    const release = holdDeletes();
    try {
      response.writeHead(200, { 'Content-Type': 'application/x-tar', 'Cache-Control': 'no-store' });
      await pipeline(createBackup(sources), response);
    } catch (error) {
      logger.warn({ reason: errorText(error) }, 'A backup ended before it was complete');
    } finally {
      release();
      isRunning = false;
    }
  };
}
