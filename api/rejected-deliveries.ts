/** The rejected deliveries of one source and reason since the process started. */
export type Rejected = { source: string; reason: string; count: number; lastAt: string };

/**
 * Counts the rejected deliveries of each site by reason, to find out why a webhook doesn't work. It keeps nothing of the
 * deliveries themselves, because anyone can send them.
 */
export class RejectedDeliveries {
  readonly #bySite = new Map<string, Map<string, Rejected>>();

  /** The texts must be configured names and fixed words, which limits the memory. */
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
