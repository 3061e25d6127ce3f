import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { request } from 'undici';
import { z } from 'zod';
import { deploymentName } from '../../contract/deployment-config.ts';
import { notConfigured } from '../not-configured.ts';
import type { ReadSite } from '../sites/read-site.ts';

type ConfirmDeploymentInput = {
  site: string;
  /** The deployment's name. */
  valuesFile: string;
  jobId: string;
  /** Null if the service gives its jobs no versions. */
  version: string | null;
};

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;

/** The first questions come each second, because most deployments need a few; later ones up to this far apart. */
const LONGEST_DELAY_MS = 30_000;

const status = z.object({ version: z.string().nullish(), jobId: z.string().nullish() });

/**
 * Returns once every `statusUrl` of a deployment reports the job, or its version if it reports no jobs. Until then it
 * fails with a benign `NotServed`, so that Temporal asks again by its retry policy. The URLs are the worker's own: one
 * may hold a password, as in `https://user:password@docs.example.com/-/status`. Throws `NotConfigured`.
 */
export function createConfirmDeployment(readSite: ReadSite) {
  return async function confirmDeployment(input: ConfirmDeploymentInput): Promise<void> {
    const { site, valuesFile } = input;
    const config = await readSite(site);
    if (config === undefined) throw notConfigured(`the site ${site}`, []);
    const deployment = config.export.deployments.find((each) => deploymentName(each) === valuesFile);
    const reasons = await Promise.all([deployment?.statusUrl ?? []].flat().map((url) => whyNotServed(url, input)));
    const [reason] = reasons.filter((each) => each !== null);
    if (reason !== undefined) throw notServed(reason);
  };
}

async function whyNotServed(statusUrl: string, { jobId, version }: ConfirmDeploymentInput): Promise<string | null> {
  const { host } = new URL(statusUrl);
  try {
    const served = status.parse(JSON.parse(await read(new URL(statusUrl))));
    const isServed = typeof served.jobId === 'string' ? served.jobId === jobId : served.version === version;
    return isServed ? null : `${host} serves ${served.version ?? served.jobId ?? 'nothing'}`;
  } catch (error) {
    const isUnreadable = error instanceof SyntaxError || error instanceof z.ZodError;
    if (isUnreadable) return `${host} answers with no status of a deployment`;
    return `${host} can't be asked: ${error instanceof Error ? error.message : 'unknown'}`;
  }
}

async function read(url: URL): Promise<string> {
  const { username, password } = url;
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  [url.username, url.password] = ['', ''];
  const { statusCode, body } = await request(url, {
    headers: { accept: 'application/json', ...(username !== '' && { authorization: `Basic ${basic}` }) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  let text = '';
  for await (const chunk of body.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_BYTES) throw new SyntaxError('too long');
  }
  if (statusCode !== 200) throw new Error(`it answers ${statusCode}`);
  return text;
}

function notServed(message: string): ApplicationFailure {
  const { attempt } = Context.current().info;
  const nextRetryDelay = Math.round(Math.min(1_000 * 1.2 ** Math.min(attempt - 1, 50), LONGEST_DELAY_MS));
  return ApplicationFailure.create({ type: 'NotServed', message, nextRetryDelay, category: 'BENIGN' });
}
