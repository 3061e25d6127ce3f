import type { GalleyConfig, SiteConfig } from '../contract/galley-config.ts';
import { SIGNALS, WORKFLOW_IDS } from '../contract/names.ts';
import type { DeliveryRef, PublishEvent } from '../contract/publish-event.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { RenamedSites } from './renamed-sites.ts';
import type { PullRequestSignal, RuleStart, TemporalGateway } from './temporal-gateway.ts';
import { unavailable } from './unavailable.ts';
import type { SourcedDelivery } from './webhooks/configured-source.ts';

/** A verified and parsed delivery of one site. */
export type ReceivedDelivery = { site: string; ref: DeliveryRef; parsed: SourcedDelivery };

type DispatchDeps = {
  config: GalleyConfig;
  /** Signals of `exportSite`, in lanes by site. */
  exports: DeliveryQueue;
  /** Signals of `agentRule`, in lanes by workflow id. */
  prompts: DeliveryQueue;
  gateway: Pick<TemporalGateway, 'signalChanges'>;
  renamed: Pick<RenamedSites, 'oldNames'>;
};

/**
 * Signals a delivery to every workflow that it concerns. Resolves with their ids once Temporal holds all signals; the
 * list is empty if the delivery was filtered or no workflow waits for it. Rejects with HttpError 503 otherwise: the
 * workflows know which deliveries they have, so a resend reaches only those that missed it.
 */
export type Dispatch = (delivery: ReceivedDelivery) => Promise<readonly string[]>;

export function createDispatch({ config, exports, prompts, gateway, renamed }: DispatchDeps): Dispatch {
  return async ({ site, ref, parsed }) => {
    switch (parsed.kind) {
      case 'filtered':
        return [];
      case 'publish': {
        const rules = promptedRules(config.sites[site]?.agent ?? [], parsed.event);
        const ids = rules.map(({ name }) => WORKFLOW_IDS.agentRule(site, name));
        await Promise.all([
          exports.add(site, ref, parsed.event),
          ...ids.map((id) => prompts.add(id, ref, parsed.event)),
        ]);
        return [WORKFLOW_IDS.exportSite(site), ...ids];
      }
      case 'pull-request':
        return await signalChanges(site, {
          signal: SIGNALS.pullRequestChanged,
          payload: { ...parsed.change, deliveryId: ref.id },
        });
      case 'review':
        return await signalChanges(site, {
          signal: SIGNALS.reviewed,
          payload: { ...parsed.review, deliveryId: ref.id },
        });
    }
  };

  /** Changes that began under an old name of the site end under it. */
  async function signalChanges(site: string, signal: PullRequestSignal): Promise<string[]> {
    try {
      const [present, names] = await Promise.all([gateway.signalChanges(site, signal), renamed.oldNames(site)]);
      const earlier = await Promise.all(names.map((name) => gateway.signalChanges(name, signal)));
      return [...present, ...earlier.flat()];
    } catch {
      throw unavailable('Temporal can not be reached');
    }
  }
}

/** Rules prompt only for added or changed content, and never for the agent's own work. */
function promptedRules(rules: SiteConfig['agent'], event: PublishEvent): SiteConfig['agent'] {
  return event.action === 'publish' && event.agentsOwn !== true ? rules : [];
}

/** Every configured rule, by its workflow's id. */
export function rulesById(config: GalleyConfig): ReadonlyMap<string, RuleStart> {
  return new Map(
    Object.entries(config.sites).flatMap(([site, { agent }]) =>
      agent.map(({ name }) => [WORKFLOW_IDS.agentRule(site, name), { site, rule: name }] as const),
    ),
  );
}
