import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import type { z } from 'zod';
import { siteState } from '../../contract/site-state.ts';
import { valuesFile } from '../../contract/values-file.ts';
import { CommandError } from '../command-error.ts';
import { requestJson } from '../request-json.ts';

const POLL_MS = 200;

const observedState = siteState.pick({ phase: true, jobId: true, version: true, lastError: true }).extend({
  progress: siteState.shape.progress.optional(),
  exports: siteState.shape.exports.optional(),
});
type ObservedState = z.infer<typeof observedState>;

/** Polls until `look` returns something; errors count as "not yet". @throws CommandError after `timeoutMs`. */
export async function until<T>(
  what: string,
  timeoutMs: number,
  signal: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    signal.throwIfAborted();
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    await sleep(POLL_MS, undefined, { signal });
  }
  throw new CommandError(`not seen within ${timeoutMs / 1000} s: ${what}`);
}

/** The site's state from `GET /sites/{site}`. */
export async function readSiteState(api: string, site: string, token: string): Promise<ObservedState> {
  return observedState.parse(await requestJson({ url: new URL(`/sites/${site}`, api), token }));
}

/** The deployment's link; undefined before the first deploy. */
export async function readBundleUrl(file: string): Promise<string | undefined> {
  return valuesFile.parse(parse(await readFile(file, 'utf8'))).staticExport?.bundleUrl;
}

/** A page's text; undefined if it isn't served. */
export async function readPage(url: string): Promise<string | undefined> {
  const response = await fetch(url);
  const text = await response.text();
  return response.ok ? text : undefined;
}
