import type { GalleyConfig, SiteConfig } from '../contract/galley-config.ts';
import { SIGNALS, WORKFLOW_IDS } from '../contract/names.ts';
import type { DeliveryRef, PublishEvent } from '../contract/publish-event.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { Reading } from './sources/source.ts';
import type { PullRequestNews, RuleStart, TemporalGateway } from './temporal-gateway.ts';
import { unavailable } from './unavailable.ts';

export type IntakeDeps = {
  config: GalleyConfig;
  /** Signals of `exportSite`, in lanes by site. */
  exports: DeliveryQueue;
  /** Signals of `agentRule`, in lanes by workflow id. */
  prompts: DeliveryQueue;
  gateway: Pick<TemporalGateway, 'tellChanges'>;
};

/**
 * Hands a verified delivery to every workflow it concerns; resolves with their ids once Temporal holds it for all of
 * them, with none where nobody waits for it. Rejects with HttpError 503 otherwise: each workflow knows its deliveries,
 * so the resend reaches those that missed it and no other twice.
 */
export function createIntake({ config, exports, prompts, gateway }: IntakeDeps) {
  return async (site: string, delivery: DeliveryRef, reading: Exclude<Reading, { kind: 'filtered' }>) => {
    switch (reading.kind) {
      case 'publish': {
        const rules = promptedRules(config.sites[site]?.agent ?? [], reading.event);
        const ids = rules.map(({ name }) => WORKFLOW_IDS.agentRule(site, name));
        await Promise.all([
          exports.add(site, delivery, reading.event),
          ...ids.map((id) => prompts.add(id, delivery, reading.event)),
        ]);
        return [WORKFLOW_IDS.exportSite(site), ...ids];
      }
      case 'pull-request':
        return await tell(site, {
          signal: SIGNALS.pullRequestChanged,
          payload: { ...reading.change, deliveryId: delivery.id },
        });
      case 'review':
        return await tell(site, { signal: SIGNALS.reviewed, payload: { ...reading.review, deliveryId: delivery.id } });
    }
  };

  async function tell(site: string, news: PullRequestNews): Promise<string[]> {
    try {
      return await gateway.tellChanges(site, news);
    } catch {
      throw unavailable('Temporal can not be reached');
    }
  }
}

/** What was taken away needs no text about it, and an agent never prompts itself (design 8). */
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
