import { once } from 'node:events';
import { connect } from 'node:net';
import type { SettingsOf } from '../../../contract/target-kind.ts';
import { postMessage } from '../../notifications/post.ts';
import { canonicalSecret, signMessage } from '../../notifications/sign-message.ts';
import type { DeploymentTarget } from '../deployment-target.ts';
import { writtenReport } from '../write-order.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A deploy hook: gets a signed POST (Standard Webhooks) with the version and its link. It can't be asked what it has, so
 * the receiver recognizes a repeated message by its `webhook-id`.
 * @param name the deployment's name, which makes the ids of messages
 */
export function createHttpTarget(name: string, { url, secret }: SettingsOf<'http'>): DeploymentTarget {
  const secrets = [secret].flat().map(canonicalSecret);
  return {
    async write(write, { site, signal }) {
      const { epoch, sequence, kind, version, jobId, bundleUrl, integrity, expiresAt = null } = write;
      const body = { kind, site, version, jobId, bundleUrl, integrity, expiresAt };
      const identity = `deploy:${site}:${name}:${epoch}:${sequence}`;
      const message = signMessage(body, { identity, secrets, now: new Date() });
      const { status, reason } = await postMessage(url, message, { canceled: signal });
      signal.throwIfAborted();
      if (status !== null && status >= 200 && status < 300) return writtenReport(write);
      throw new Error(explain(status, reason));
    },
    async check({ signal }) {
      const { origin, hostname, port, protocol } = new URL(url);
      const host = hostname.replace(/^\[|\]$/g, '');
      try {
        await connects({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) }, signal);
        return { message: `${origin} accepts connections; no message was sent`, fix: null };
      } catch (error) {
        const reason = error instanceof Error && error.name !== 'AbortError' ? error.message : 'no answer';
        const fix = 'Correct http.url, or start the receiver of the deploy hook.';
        return { message: `${origin} can't be reached (${reason || 'connection refused'})`, fix };
      }
    },
  };
}

/** Checks only the connection: a deploy hook may act on any request. */
async function connects(to: { host: string; port: number }, signal: AbortSignal): Promise<void> {
  const socket = connect(to);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]) });
  } finally {
    socket.destroy();
  }
}

function explain(status: number | null, reason: string): string {
  if (status === null) return `the deploy hook: ${reason}`;
  const answer = `the deploy hook returned ${status}${reason === '' ? '' : ` ${reason}`}`;
  if (status >= 300 && status < 400) return `${answer}: redirects are not followed, set the URL that it leads to`;
  return answer;
}
