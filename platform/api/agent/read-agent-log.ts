import { pipeline } from 'node:stream/promises';
import type { RequestHandler } from 'express';
import { errorCode } from '../../../base/error-code.ts';
import { ObjectMissingError } from '../../../exporter/export-failure.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { listAgentRunLogs } from '../../store/agent-runs.ts';
import { authenticate } from '../authenticate.ts';
import type { ApiContext } from '../platform-api-deps.ts';
import { findOwnAgentJob } from './agent-job-view.ts';

type RunLog = { run: number; logKey: string; startedAt: Date | null };

/** `GET /v2/agent/{projectId}/job/{id}/log`: what the agent printed in each run, as text; empty if nothing yet. */
export function agentLogHandler({ db, objects, logger }: ApiContext): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    const { id } = await findOwnAgentJob(db, caller, request.params);
    const parts = joinAgentLogs(objects, await listAgentRunLogs(db, id));
    // Read before the response begins, so that an unavailable store gives an error status and not half a response.
    const first = await parts.next();
    response.type('text/plain; charset=utf-8');
    if (request.method === 'HEAD' || first.done) {
      await parts.return(undefined);
      response.end();
      return;
    }
    const { value } = first;
    try {
      await pipeline(async function* () {
        yield value;
        yield* parts;
      }, response);
    } catch (error) {
      // A client that disconnects ends the reading and is no error. Other errors can only break the response.
      if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') {
        logger.error({ err: error, jobId: id }, 'The log of an agent job could not be read to its end');
      }
    }
  };
}

/** The logs in the order of the runs, each after a header line. A log that isn't in the store is omitted. */
export async function* joinAgentLogs(
  objects: Pick<ObjectStore, 'get'>,
  logs: readonly RunLog[],
): AsyncGenerator<Uint8Array, undefined> {
  let endsLine = true;
  for (const { run, logKey, startedAt } of logs) {
    const log = await openLog(objects, logKey);
    if (log === undefined) continue;
    try {
      const begun = startedAt === null ? '' : `, begun ${startedAt.toISOString()}`;
      yield Buffer.from(`${endsLine ? '' : '\n'}=== run ${run}${begun} ===\n`);
      endsLine = true;
      for await (const chunk of log) {
        const bytes = Buffer.from(chunk);
        if (bytes.length === 0) continue;
        endsLine = bytes.at(-1) === 0x0a;
        yield bytes;
      }
    } finally {
      // The caller may stop after the first line, while the log stream is still open.
      log.destroy();
    }
  }
}

async function openLog(objects: Pick<ObjectStore, 'get'>, key: string) {
  try {
    const log = await objects.get(key);
    // The reading throws it. While a slow client hasn't taken what precedes the log, nothing else listens.
    log.on('error', () => undefined);
    return log;
  } catch (error) {
    if (error instanceof ObjectMissingError) return undefined;
    throw error;
  }
}
