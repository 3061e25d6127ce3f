import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Agent, interceptors, request } from 'undici';
import { errorCode } from '../../../base/error-code.ts';
import { measure } from '../../../base/sha256.ts';

/** The longest silence of the server, before and within its response. */
const SILENCE_MS = 30_000;
const MAX_REDIRECTS = 5;

/**
 * Downloads a bundle's archive to a new file. Errors name the link's host only: the rest of it is a secret.
 * @returns the archive's size and its SHA-256 in hex
 */
export async function fetchBundle(
  bundleUrl: string,
  file: string,
  signal: AbortSignal,
): Promise<{ sizeBytes: number; sha256: string }> {
  const url = URL.canParse(bundleUrl) ? new URL(bundleUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new Error('the link of the bundle is no http(s) URL');
  const agent = new Agent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS, connectTimeout: SILENCE_MS });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS }));
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      signal,
      headers: { 'accept-encoding': 'identity' },
    });
    if (statusCode !== 200) {
      body.on('error', () => undefined).destroy();
      throw new Error(`it answers ${statusCode}`);
    }
    const expectedBytes = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
    const measured = measure();
    await pipeline(body, measured.stream, createWriteStream(file, { flags: 'wx' }), { signal });
    const { sizeBytes, sha256 } = measured.result();
    if (expectedBytes !== undefined && sizeBytes !== expectedBytes)
      throw new Error(`it ended after ${sizeBytes} bytes`);
    return { sizeBytes, sha256 };
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`the bundle can't be downloaded from ${url.host}: ${reasonOf(error)}`);
  } finally {
    await agent.destroy();
  }
}

/** Undici's messages may repeat the URL, its codes don't. */
function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code !== undefined) return code;
  return error instanceof Error && !error.message.includes('://') ? error.message : 'the connection failed';
}
