import { WORKFLOW_IDS } from '../../contract/names.ts';
import { createContext } from '../../programs/process/context.ts';
import { CommandError } from '../command-error.ts';
import { deploymentUrls, openOrchestrator } from '../orchestrator-client.ts';
import { printJson, printLines } from '../output.ts';
import { configuredWebhook } from './configured-webhook.ts';
import { makeDelivery } from './make-delivery.ts';
import { post } from './post.ts';
import { readBody } from './read-body.ts';
import { receiverReason } from './receiver-reason.ts';
import { receiverUrl } from './receiver-url.ts';
import { type Verdict, verdictOf } from './verdict.ts';

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
  else printLines([verdict.outcome !== 'unreachable' && `Sent a signed ${delivery.what} to ${address}`]);
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
