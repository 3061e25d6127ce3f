import type { Request, Response, Router } from 'express';
import type { VNode } from 'preact';
import { renderPart } from '../../ui/page.tsx';
import { startEventStream } from '../../web/event-stream.ts';
import { onlyMethods } from '../http-edge.ts';
import { type SignedOperator, sessionOf, signedOf } from './access.ts';
import type { PagesDeps } from './pages-deps.ts';
import type { Sessions } from './session.ts';

const POLL_MS = 1_000;
/** Times like "5 min ago" grow old even if nothing happens. */
const REPEAT_MS = 20_000;
/** Each viewer holds a connection. */
const MAX_VIEWERS = 500;

/** Returns false if it couldn't take the state; then it gets the next one that is read. */
type Viewer<State> = (state: State) => boolean;

type Watch<State> = {
  viewers: Set<Viewer<State>>;
  /** Viewers that have no state yet. Their page shows one, so they must not get an older one. */
  newcomers: Set<Viewer<State>>;
  /** Ends the pause between two reads. */
  wake: () => void;
};

type Watches<State> = {
  /** Calls the viewer with each new state until the returned function is called. Undefined: there are too many. */
  watch: (key: string, read: () => Promise<State>, viewer: Viewer<State>) => (() => void) | undefined;
};

/** Polls each state that has viewers, once for all of them. */
export function createWatches<State>(pollMs = POLL_MS): Watches<State> {
  const watches = new Map<string, Watch<State>>();
  let viewerCount = 0;

  const poll = async (key: string, read: () => Promise<State>, watch: Watch<State>): Promise<void> => {
    let sentText = '';
    let sentMs = 0;
    let behind: Viewer<State>[] = [];
    while (watch.viewers.size > 0) {
      behind.push(...watch.newcomers);
      watch.newcomers.clear();
      const state = await read().catch(() => undefined);
      const text = JSON.stringify(state);
      if (state !== undefined) {
        const isDue = text !== sentText || Date.now() - sentMs >= REPEAT_MS;
        if (isDue) [sentText, sentMs] = [text, Date.now()];
        // Those who came during the read get the state of the next one.
        const receivers = isDue ? [...watch.viewers].filter((each) => !watch.newcomers.has(each)) : behind;
        behind = receivers.filter((viewer) => watch.viewers.has(viewer) && !viewer(state));
      }
      if (watch.newcomers.size === 0) await pause(watch);
    }
    watches.delete(key);
  };

  const pause = (watch: Watch<State>): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs).unref();
      watch.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  return {
    watch(key, read, viewer) {
      if (viewerCount >= MAX_VIEWERS) return undefined;
      viewerCount += 1;
      const running = watches.get(key);
      const watch: Watch<State> = running ?? { viewers: new Set(), newcomers: new Set(), wake: () => {} };
      watch.viewers.add(viewer);
      watch.newcomers.add(viewer);
      watches.set(key, watch);
      if (running === undefined) void poll(key, read, watch);
      else watch.wake();
      return () => {
        if (watch.viewers.delete(viewer)) viewerCount -= 1;
        watch.newcomers.delete(viewer);
      };
    },
  };
}

type LivePart<State> = {
  /** Throws what its page would throw. */
  read: (request: Request) => Promise<State>;
  show: (state: State, request: Request, signed: SignedOperator) => VNode;
  /** Requests with the same key read the same state: by default those of one path. */
  keyOf?: (request: Request) => string;
  pollMs?: number;
};

/**
 * The events of a page's live part: sends it again whenever its state changes, until the browser leaves, the session ends
 * or the service stops. All viewers of a state share its reads.
 */
export function addLive<State>(
  router: Router,
  path: string,
  { stopped, sessions }: Pick<PagesDeps, 'stopped'> & { sessions: Sessions | undefined },
  { read, show, keyOf = ({ path: own }) => own, pollMs }: LivePart<State>,
): void {
  const watches = createWatches<State>(pollMs);
  const stream = async (request: Request, response: Response): Promise<void> => {
    const signed = signedOf(request);
    await read(request);
    let unwatch: (() => void) | undefined;
    const events = startEventStream(request, response, { stopped, onEnd: () => unwatch?.() });
    unwatch = watches.watch(
      keyOf(request),
      () => read(request),
      (state) => {
        // A session that has ended in the meantime sees no more.
        if (sessionOf(request, sessions) !== undefined) return events.send(renderPart(show(state, request, signed)));
        response.end();
        return true;
      },
    );
    if (unwatch === undefined) response.end();
    else if (response.closed) unwatch();
  };
  router.route(path).get(stream).all(onlyMethods('GET', 'HEAD'));
}
