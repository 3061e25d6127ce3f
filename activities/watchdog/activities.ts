import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Problem } from '../../contract/watchdog.ts';
import { type FindProblemsDeps, findProblems } from './find-problems.ts';

type WatchdogActivityDeps = FindProblemsDeps & {
  operators: readonly string[];
  /** Whether a mail server is configured. */
  mail: boolean;
  /** Contains a secret, so it never enters a history or a log. */
  heartbeatUrl?: string | undefined;
  logger: Logger;
};

const HEARTBEAT_TIMEOUT_MS = 10_000;

export function createWatchdogActivities(deps: WatchdogActivityDeps) {
  const { operators, mail, heartbeatUrl, logger } = deps;
  return {
    /** Checks all sites. Also returns the operators to notify, none if there is no mail server. */
    async checkSites(): Promise<{ problems: Problem[]; operators: string[] }> {
      const problems = await findProblems(deps);
      logger.info({ problems: problems.length }, 'watchdog');
      return { problems, operators: mail ? [...operators] : [] };
    },

    /** Reports to HEARTBEAT_URL, if it is set, that a check has succeeded. */
    async sendHeartbeat(): Promise<void> {
      if (heartbeatUrl === undefined) return;
      const { host } = new URL(heartbeatUrl);
      let status: number;
      try {
        const response = await fetch(heartbeatUrl, { signal: AbortSignal.timeout(HEARTBEAT_TIMEOUT_MS) });
        await response.body?.cancel();
        ({ status } = response);
      } catch {
        // The error may name the URL.
        throw ApplicationFailure.create({
          type: 'HeartbeatFailed',
          message: `HEARTBEAT_URL: ${host} does not respond`,
        });
      }
      if (status < 200 || status >= 300) {
        throw ApplicationFailure.create({
          type: 'HeartbeatFailed',
          message: `HEARTBEAT_URL: ${host} responded ${status}`,
        });
      }
    },
  };
}
