/** Deliveries of one source that were turned away for the same reason, since the process began. */
export type Rejected = { source: string; reason: string; count: number; lastAt: string };

/**
 * How many deliveries of each site were turned away, and why: what whoever sets up a webhook looks for when nothing
 * arrives. Nothing of the deliveries themselves is kept, since anybody may send them.
 */
export class RejectedDeliveries {
  readonly #bySite = new Map<string, Map<string, Rejected>>();

  /** All but the time must be configured names and fixed words: that is what bounds the memory. */
  add(site: string, source: string, reason: string, at: Date): void {
    const ofSite = this.#bySite.get(site) ?? new Map<string, Rejected>();
    this.#bySite.set(site, ofSite);
    const key = `${source}\n${reason}`;
    const count = (ofSite.get(key)?.count ?? 0) + 1;
    ofSite.delete(key);
    ofSite.set(key, { source, reason, count, lastAt: at.toISOString() });
  }

  /** The most recent first. */
  of(site: string): readonly Rejected[] {
    return [...(this.#bySite.get(site)?.values() ?? [])].reverse();
  }
}
