import { z } from 'zod';
import { request } from '../../base/request.ts';

/** What a deployment should serve. */
export type WantedJob = {
  jobId: string;
  /** Null if the service gives its jobs no versions. */
  version: string | null;
  /** Of the newest link to its bundle; null if unknown. Confirms a bundle without a manifest, which has no job. */
  bundlePath: string | null;
};

/**
 * What one URL answers. `other`: the deployment itself says that it serves something else, or why it can't serve the job;
 * `open`: it says neither, for example while it downloads; `none`: no deployment answered.
 */
export type StatusAnswer = {
  is: 'served' | 'other' | 'open' | 'none';
  /** The host, and what it says: for people. */
  says: string;
  version: string | null;
  jobId: string | null;
};

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;
const MAX_TEXT = 200;

const text = z
  .string()
  .transform((value) => value.slice(0, MAX_TEXT))
  .nullish()
  .catch(null);

/** A page of a proxy may be JSON too, so one of these fields must be there. */
const status = z
  .object({
    version: text,
    jobId: z.string().max(500).nullish(),
    bundlePath: text,
    state: text,
    download: z.unknown().optional(),
    lastError: z.object({ message: text }).nullish().catch(null),
  })
  .refine((fields) => fields.version !== undefined || fields.jobId !== undefined);
type Status = z.infer<typeof status>;

/** Asks one `statusUrl`. Never throws: no answer is one of the answers. */
export async function askStatus(statusUrl: string, wanted: WantedJob): Promise<StatusAnswer> {
  const { host } = new URL(statusUrl);
  try {
    return judge(host, status.parse(JSON.parse(await read(new URL(statusUrl)))), wanted);
  } catch (error) {
    const isUnreadable = error instanceof SyntaxError || error instanceof z.ZodError;
    const why = error instanceof Error ? error.message : 'unknown';
    const says = isUnreadable ? `${host} answers with no status of a deployment` : `${host} can't be asked: ${why}`;
    return { is: 'none', says: says.slice(0, MAX_TEXT), version: null, jobId: null };
  }
}

function judge(host: string, reported: Status, wanted: WantedJob): StatusAnswer {
  const { version = null, jobId = null, state, lastError, download } = reported;
  const answer = (is: StatusAnswer['is'], says: string): StatusAnswer => ({ is, says, version, jobId });
  if (state === 'off') return answer('open', `${host} is switched off`);
  const serves = `${host} serves ${version ?? jobId ?? (reported.bundlePath == null ? 'nothing' : 'another bundle')}`;
  const match = matches(reported, wanted);
  if (match) return answer('served', serves);
  if (download != null) return answer('open', `${serves} and downloads`);
  if (lastError != null) return answer('other', `${serves}: ${lastError.message ?? 'it reports an error'}`);
  // Nothing may mean that it has just started, and another link may lead to the same bundle.
  return match === false && (version ?? jobId) !== null ? answer('other', serves) : answer('open', serves);
}

/** Null if the status doesn't tell. */
function matches({ jobId, version, bundlePath }: Status, wanted: WantedJob): boolean | null {
  if (jobId != null) return jobId === wanted.jobId;
  if (bundlePath != null) return bundlePath === wanted.bundlePath || null;
  return wanted.version === null ? null : version === wanted.version;
}

async function read(url: URL): Promise<string> {
  const { username, password } = url;
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  [url.username, url.password] = ['', ''];
  const { statusCode, body } = await request(url, {
    headers: { accept: 'application/json', ...(username !== '' && { authorization: `Basic ${basic}` }) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  let content = '';
  for await (const chunk of body.setEncoding('utf8')) {
    content += chunk;
    if (content.length > MAX_BYTES) throw new SyntaxError('too long');
  }
  if (statusCode !== 200) throw new Error(`it answers ${statusCode}`);
  return content;
}
