import { z } from 'zod';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import { createContext } from '../../programs/process/context.ts';
import { OPERATOR_TOKEN_FILE, openHome } from '../../programs/process/home.ts';
import { listeningUrl } from '../../programs/process/serve.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { deploymentUrls, openOrchestrator, parseUrlOption } from '../orchestrator-client.ts';
import { printJson, printLines, wrap } from '../output.ts';
import { requestJson } from '../request-json.ts';
import { configuredWebhook } from './configured-webhook.ts';
import { makeDelivery, readBody } from './make-delivery.ts';
import { post, type Verdict, verdictOf } from './verdict.ts';

export type SendOptions = { body?: string; url?: string; follow?: boolean; json?: boolean };

/** Runs the command `webhook send`. */
export async function send(site: string, source: string, options: SendOptions): Promise<void> {
  const { settings } = createContext({ quiet: true });
  const webhook = await configuredWebhook(settings, site, source);
  const given = options.body === undefined ? undefined : await readBody(options.body, process.stdin);
  const url = await receiverUrl(settings, { site, source, url: options.url });
  const at = new Date();
  const delivery = makeDelivery(webhook, { path: url.pathname, at, given });
  const verdict = verdictOf(await post(url, delivery), { url, site, source });
  const doubtful = verdict.outcome === 'filtered' || verdict.status === 401;
  // A given URL may belong to anyone, and the question carries the operator token.
  const mayAsk = doubtful && options.url === undefined;
  const reason = mayAsk ? await receiverReason(settings, { receiver: url, site, source, at, verdict }) : undefined;

  const address = `${url.origin}${url.pathname}`;
  if (options.json) printJson({ site, source, url: address, ...verdict, reason: reason ?? null });
  else printLines([verdict.outcome !== 'unreachable' && wrap(`Sent a signed ${delivery.what} to ${address}`)]);
  const meaning = describe(verdict, reason, options.url === undefined ? site : `${site} --url ${url.origin}`);
  if (verdict.outcome === 'refused' || verdict.outcome === 'unreachable') throw new CommandError(meaning);
  const { deliveryId } = verdict;
  const isExported = verdict.accepted.includes(WORKFLOW_IDS.exportSite(site)) && deliveryId !== null;
  if (!options.json) printLines([options.follow && isExported ? meaning.split('\n')[0] : meaning]);
  if (options.follow && isExported) await follow({ site, deliveryId, at: url }, options);
}

async function follow(
  { site, deliveryId, at }: { site: string; deliveryId: string; at: URL },
  { url, json }: SendOptions,
): Promise<void> {
  const where = { url: url === undefined ? undefined : at.origin };
  const { ask } = await openOrchestrator(where);
  const { exportOfDelivery, followExport } = await import('../follow/follow-export.ts');
  await followExport(exportOfDelivery(deliveryId), { site, ask, urls: await deploymentUrls(where), json });
}

/** `target`: the arguments with which `galley sites status` asks the same receiver about the site. */
function describe({ outcome, status, meaning }: Verdict, reason: string | undefined, target: string): string {
  const message = status === null ? meaning : `${status}: ${meaning}`;
  switch (outcome) {
    case 'accepted':
      return `${message}\nSee what becomes of it: galley sites status ${target}`;
    case 'filtered':
      return `${message}\nWhy: ${reason ?? `operators see the reason under deliveries: galley sites status ${target} --json`}`;
    case 'refused':
    case 'unreachable':
      return reason === undefined ? message : `${message} The receiver noted: ${reason}.`;
  }
}

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
async function receiverReason(
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

/**
 * The URL to send to: the given one, which may be complete or only the host; otherwise the running `up`; otherwise HOST
 * and PORT.
 * @throws UsageError if the given URL isn't an http(s) URL, or if PORT is 0.
 */
export async function receiverUrl(
  { host, port, home }: Pick<Settings, 'host' | 'port' | 'home'>,
  { site, source, url }: { site: string; source: string; url: string | undefined },
): Promise<URL> {
  const path = `/webhooks/${encodeURIComponent(site)}/${source}`;
  if (url !== undefined) return givenUrl(url, path);
  const running = await openHome(home).running();
  if (running === undefined && port === 0)
    throw new UsageError('PORT: expected the port of the receiver, or its URL in --url');
  return new URL(path, running?.api ?? listeningUrl({ host, port }));
}

function givenUrl(text: string, path: string): URL {
  const url = parseUrlOption(text);
  return url.pathname === '/' ? new URL(path, url) : url;
}
