import { cutText } from '../contract/cut-text.ts';
import type { DeliveryRecord } from '../contract/site-state.ts';

const KEPT_PER_SITE = 50;
/** The most deliveries kept for all sites: some megabytes. The quietest site is dropped first. */
const KEPT = 20_000;
/** Senders choose these texts, so their length is limited. */
const MAX_TEXT = 200;

/**
 * The newest verified deliveries of each site that this process received, including filtered ones and those that no
 * workflow lists yet. They help to set up a webhook. They are no record: each process has its own until it ends.
 */
export class RecentDeliveries {
  readonly #bySite = new Map<string, Map<string, DeliveryRecord>>();
  #size = 0;

  /**
   * Adds a delivery. Returns `repeated` if a workflow accepted the same one at most `dedupeMs` ago. `site` must be
   * configured.
   */
  add(site: string, record: DeliveryRecord, dedupeMs: number): 'new' | 'repeated' {
    const ofSite = this.#bySite.get(site) ?? new Map<string, DeliveryRecord>();
    const key = keyOf(record);
    const before = ofSite.get(key);
    if (ofSite.delete(key)) this.#size -= 1;
    ofSite.set(key, cut(record));
    this.#size += 1;
    const [oldest] = ofSite.keys();
    if (ofSite.size > KEPT_PER_SITE && oldest !== undefined && ofSite.delete(oldest)) this.#size -= 1;
    this.#bySite.delete(site);
    this.#bySite.set(site, ofSite);
    if (this.#size > KEPT) this.#dropQuietestSite();
    if (!before?.workflowId) return 'new';
    return Date.parse(record.at) - Date.parse(before.at) <= dedupeMs ? 'repeated' : 'new';
  }

  /** Whether no workflow acknowledged the same delivery when it last arrived, at `sinceMs` or later. */
  mayHaveArrived(site: string, delivery: { source: string; id: string }, sinceMs: number): boolean {
    const before = this.#bySite.get(site)?.get(keyOf(delivery));
    return before?.outcome === 'verified' && before.workflowId === null && Date.parse(before.at) >= sinceMs;
  }

  /** Newest first. */
  of(site: string): readonly DeliveryRecord[] {
    return [...(this.#bySite.get(site)?.values() ?? [])].reverse();
  }

  /** A workflow's list with the topics that this process knows, and with the deliveries that the list lacks. */
  merge(site: string, listed: readonly DeliveryRecord[], { current }: { current: boolean }): DeliveryRecord[] {
    const recent = this.#bySite.get(site);
    const listedKeys = new Set(listed.map(keyOf));
    const newestListedMs = Math.max(...listed.map(({ at }) => Date.parse(at)));
    // A current list with newer deliveries has dropped this one, unless it went to another workflow.
    const wasDropped = (record: DeliveryRecord): boolean =>
      current &&
      listed.some(({ workflowId }) => workflowId === record.workflowId) &&
      Date.parse(record.at) <= newestListedMs;
    const missing = this.of(site).filter((record) => !listedKeys.has(keyOf(record)) && !wasDropped(record));
    const enriched = listed.map((record) => ({ ...topicOf(recent?.get(keyOf(record))), ...record }));
    return [...enriched, ...missing].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  }

  #dropQuietestSite(): void {
    for (const [site, { size }] of this.#bySite) {
      this.#bySite.delete(site);
      this.#size -= size;
      return;
    }
  }
}

function keyOf({ source, id }: Pick<DeliveryRecord, 'source' | 'id'>): string {
  return `${source}\n${id}`;
}

function topicOf(record: DeliveryRecord | undefined): Pick<DeliveryRecord, 'topic'> {
  return record?.topic === undefined ? {} : { topic: record.topic };
}

function cut({ topic, why, ...record }: DeliveryRecord): DeliveryRecord {
  return {
    ...record,
    ...(topic !== undefined && { topic: cutText(topic, MAX_TEXT) }),
    ...(why !== undefined && { why: cutText(why, MAX_TEXT) }),
  };
}
