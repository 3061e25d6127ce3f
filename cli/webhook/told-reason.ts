import { z } from 'zod';
import type { Settings } from '../environment.ts';
import { OPERATOR_TOKEN_FILE, openHome } from '../home.ts';
import { requestJson } from '../request-json.ts';
import type { Verdict } from './verdict.ts';

/** Read loosely: an api of another release may say more or less. */
const status = z.object({
  deliveries: z.array(z.object({ id: z.string(), source: z.string(), why: z.string().optional() })).catch([]),
  rejected: z.array(z.object({ source: z.string(), reason: z.string(), lastAt: z.string() })).catch([]),
});

/** In plain words, what the receiver notes in one. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['missing-header', 'a header was missing'],
  ['malformed-header', 'a header was not of the expected form'],
  ['malformed-body', 'its body was not of the expected form'],
  ['bad-signature', 'the signature was another than expected'],
  ['stale', 'its time was too long ago'],
  ['future', "its time was ahead of the receiver's clock"],
]);

type Asked = { receiver: URL; site: string; source: string; at: Date; verdict: Verdict };

/**
 * Why the receiver filtered or rejected a delivery that was sent at `at`. It tells operators only, so undefined without
 * their token, and where it doesn't know.
 */
export async function toldReason(
  { operatorToken, home: folder }: Pick<Settings, 'operatorToken' | 'home'>,
  { receiver, site, source, at, verdict }: Asked,
): Promise<string | undefined> {
  const home = openHome(folder);
  const running = await home.running();
  const token = operatorToken ?? (running ? await home.readSecret(OPERATOR_TOKEN_FILE) : undefined);
  if (token === undefined) return undefined;
  try {
    const address = new URL(`/sites/${encodeURIComponent(site)}`, receiver);
    const { deliveries, rejected } = status.parse(await requestJson({ url: address, token }));
    if (verdict.outcome === 'filtered') {
      return deliveries.find((each) => each.source === source && each.id === verdict.deliveryId)?.why;
    }
    const latest = rejected.find((each) => each.source === source && Date.parse(each.lastAt) >= at.getTime());
    return latest && (REASONS.get(latest.reason) ?? latest.reason);
  } catch {
    // The answer to the delivery is what counts; this is a courtesy.
    return undefined;
  }
}
