import { z } from 'zod';
import { OPERATOR_TOKEN_FILE, openHome } from '../../programs/process/home.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { requestJson } from '../request-json.ts';
import type { Verdict } from './verdict.ts';

/** Lenient, because the receiver may run another release. */
const status = z.object({
  deliveries: z.array(z.object({ id: z.string(), source: z.string(), why: z.string().optional() })).catch([]),
  rejected: z.array(z.object({ source: z.string(), reason: z.string(), lastAt: z.string() })).catch([]),
});

/** Sentences for the receiver's reasons. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['missing-header', 'a header was missing'],
  ['malformed-header', 'a header did not have the expected format'],
  ['malformed-body', 'the body did not have the expected format'],
  ['bad-signature', 'the signature did not match'],
  ['stale', 'the signed time was too old'],
  ['future', "the signed time was ahead of the receiver's clock"],
]);

type Question = { receiver: URL; site: string; source: string; at: Date; verdict: Verdict };

/**
 * Why the receiver filtered or rejected a delivery that was sent at `at`. Undefined without the operator token, and if the
 * receiver doesn't know.
 */
export async function receiverReason(
  { operatorToken, home: folder }: Pick<Settings, 'operatorToken' | 'home'>,
  { receiver, site, source, at, verdict }: Question,
): Promise<string | undefined> {
  const home = openHome(folder);
  const running = await home.running();
  const token = operatorToken ?? (running ? await home.readSecret(OPERATOR_TOKEN_FILE) : undefined);
  if (token === undefined) return undefined;
  try {
    const statusUrl = new URL(`/sites/${encodeURIComponent(site)}`, receiver);
    const { deliveries, rejected } = status.parse(await requestJson({ url: statusUrl, token }));
    if (verdict.outcome === 'filtered') {
      return deliveries.find((each) => each.source === source && each.id === verdict.deliveryId)?.why;
    }
    const latest = rejected.find((each) => each.source === source && Date.parse(each.lastAt) >= at.getTime());
    return latest && (REASONS.get(latest.reason) ?? latest.reason);
  } catch {
    // The reason is optional: the response to the delivery matters.
    return undefined;
  }
}
