/** How long a service has to respond. */
export const PROBE_TIMEOUT_MS = 10_000;

/**
 * Sends a GET and reads no body. Follows no redirect.
 * @throws what `fetch` throws, also after 10 s
 */
export async function probe(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { 'user-agent': 'galley', ...headers },
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  });
  await response.body?.cancel();
  return response;
}
