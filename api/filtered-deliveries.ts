import type { DeliveryRecord } from '../contract/site-state.ts';

const KEPT_PER_SITE = 50;

/**
 * The newest deliveries of each site that started nothing. They never reach a workflow, so they are listed from this
 * process's memory: a courtesy to whoever sets up a webhook, not a record.
 */
export class FilteredDeliveries {
  readonly #bySite = new Map<string, DeliveryRecord[]>();

  /** `site` must be a configured one: that is what bounds the memory. */
  add(site: string, delivery: { id: string; source: string; at: string }): void {
    const record: DeliveryRecord = { ...delivery, outcome: 'filtered', workflowId: null };
    const kept = (this.#bySite.get(site) ?? []).filter(
      ({ id, source }) => id !== record.id || source !== record.source,
    );
    this.#bySite.set(site, [record, ...kept].slice(0, KEPT_PER_SITE));
  }

  /** Newest first. */
  of(site: string): readonly DeliveryRecord[] {
    return this.#bySite.get(site) ?? [];
  }
}
