import { cutText } from '../contract/cut-text.ts';
import type { DeliveryRecord } from '../contract/site-state.ts';

const KEPT_PER_SITE = 50;
/** Over all sites: some megabytes. The sites that had no delivery for longest are forgotten first. */
const KEPT = 20_000;
/** Senders choose these texts. */
const MAX_TEXT = 200;

/**
 * The newest verified deliveries of each site as this process saw them: what they were about, those that started
 * nothing, and those of which no workflow has told yet. A courtesy to whoever sets up a webhook, not a record: it ends
 * with the process, and each process has its own.
 */
export class RecentDeliveries {
  readonly #bySite = new Map<string, Map<string, DeliveryRecord>>();
  #size = 0;

  /**
   * Notes what became of a delivery, and tells whether this one had been handed to a workflow before: then it is a
   * resend, where that is no longer than `dedupeMs` ago. `site` must be a configured one.
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
    if (this.#size > KEPT) this.#forgetQuietest();
    if (!before?.workflowId) return 'new';
    return Date.parse(record.at) - Date.parse(before.at) <= dedupeMs ? 'repeated' : 'new';
  }

  /** Newest first. */
  of(site: string): readonly DeliveryRecord[] {
    return [...(this.#bySite.get(site)?.values() ?? [])].reverse();
  }

  /** A workflow's list, with what this process knows of each, and with the deliveries that are missing from it. */
  merge(site: string, told: readonly DeliveryRecord[], { current }: { current: boolean }): DeliveryRecord[] {
    const recent = this.#bySite.get(site);
    const toldKeys = new Set(told.map(keyOf));
    const newestToldMs = Math.max(...told.map(({ at }) => Date.parse(at)));
    // A list that is current and goes on after a delivery had it once, unless it went to another workflow.
    const wentBy = (record: DeliveryRecord): boolean =>
      current &&
      told.some(({ workflowId }) => workflowId === record.workflowId) &&
      Date.parse(record.at) <= newestToldMs;
    const missing = this.of(site).filter((record) => !toldKeys.has(keyOf(record)) && !wentBy(record));
    const enriched = told.map((record) => ({ ...topicOf(recent?.get(keyOf(record))), ...record }));
    return [...enriched, ...missing].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  }

  #forgetQuietest(): void {
    for (const [site, { size }] of this.#bySite) {
      this.#bySite.delete(site);
      this.#size -= size;
      return;
    }
  }
}

function keyOf({ source, id }: DeliveryRecord): string {
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
