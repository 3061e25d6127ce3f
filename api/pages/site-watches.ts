import type { SiteStatus } from '../site-status.ts';

const POLL_MS = 1_000;
/** Times like "5 min ago" grow old even if nothing happens. */
const REPEAT_MS = 20_000;
/** Each viewer holds a connection. */
const MAX_VIEWERS = 500;

/** Returns false if it couldn't take the state; then it gets the next one that is read. */
type Viewer = (status: SiteStatus) => boolean;

type Watch = {
  viewers: Set<Viewer>;
  /** Viewers that have no state yet. Their page shows one, so they must not get an older one. */
  newcomers: Set<Viewer>;
  /** Ends the pause between two reads. */
  wake: () => void;
};

type SiteWatches = {
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
    let behind: Viewer[] = [];
    while (watch.viewers.size > 0) {
      behind.push(...watch.newcomers);
      watch.newcomers.clear();
      const status = await read(site).catch(() => undefined);
      const text = JSON.stringify(status);
      if (status !== undefined) {
        const isDue = text !== sentText || Date.now() - sentMs >= REPEAT_MS;
        if (isDue) [sentText, sentMs] = [text, Date.now()];
        // Those who came during the read get the state of the next one.
        const receivers = isDue ? [...watch.viewers].filter((each) => !watch.newcomers.has(each)) : behind;
        behind = receivers.filter((viewer) => watch.viewers.has(viewer) && !viewer(status));
      }
      if (watch.newcomers.size === 0) await pause(watch);
    }
    watches.delete(site);
  };

  const pause = (watch: Watch): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs).unref();
      watch.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  return {
    watch(site, viewer) {
      if (viewerCount >= MAX_VIEWERS) return undefined;
      viewerCount += 1;
      const running = watches.get(site);
      const watch = running ?? { viewers: new Set(), newcomers: new Set(), wake: () => {} };
      watch.viewers.add(viewer);
      watch.newcomers.add(viewer);
      watches.set(site, watch);
      if (running === undefined) void poll(site, watch);
      else watch.wake();
      return () => {
        if (watch.viewers.delete(viewer)) viewerCount -= 1;
        watch.newcomers.delete(viewer);
      };
    },
  };
}
