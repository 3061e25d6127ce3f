import type { SiteStatus } from '../site-status.ts';

const POLL_MS = 1_000;
/** Times like "5 min ago" grow old even if nothing happens. */
const REPEAT_MS = 20_000;
/** Each viewer holds a connection. */
const MAX_VIEWERS = 500;

type Viewer = (status: SiteStatus) => void;

type Watch = { viewers: Set<Viewer>; latest: SiteStatus | undefined };

export type SiteWatches = {
  /** Calls the viewer with each new state until the returned function is called. Undefined: there are too many. */
  watch: (site: string, viewer: Viewer) => (() => void) | undefined;
};

type SiteWatchesOptions = {
  read: (site: string) => Promise<SiteStatus>;
  pollMs?: number;
};

/** Polls the state of each site that has viewers, once for all of them. */
export function createSiteWatches({ read, pollMs = POLL_MS }: SiteWatchesOptions): SiteWatches {
  const watches = new Map<string, Watch>();
  let viewerCount = 0;

  const poll = async (site: string, watch: Watch): Promise<void> => {
    let sentText = '';
    let sentMs = 0;
    while (watch.viewers.size > 0) {
      const status = await read(site).catch(() => undefined);
      const text = JSON.stringify(status);
      if (status !== undefined && (text !== sentText || Date.now() - sentMs >= REPEAT_MS)) {
        [sentText, sentMs, watch.latest] = [text, Date.now(), status];
        for (const viewer of watch.viewers) viewer(status);
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs).unref());
    }
    watches.delete(site);
  };

  return {
    watch(site, viewer) {
      if (viewerCount >= MAX_VIEWERS) return undefined;
      viewerCount += 1;
      const running = watches.get(site);
      const watch = running ?? { viewers: new Set(), latest: undefined };
      watch.viewers.add(viewer);
      watches.set(site, watch);
      if (running === undefined) void poll(site, watch);
      else if (watch.latest !== undefined) viewer(watch.latest);
      return () => {
        if (watch.viewers.delete(viewer)) viewerCount -= 1;
      };
    },
  };
}
