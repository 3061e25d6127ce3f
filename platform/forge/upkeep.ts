import { createForgeDispatcher } from './deliveries/create-dispatcher.ts';
import type { ForgeContext } from './forge-context.ts';
import { createBranchWatch } from './watch-branches.ts';

export type ForgeUpkeep = {
  start(): void;
  /** Webhooks were put into the outbox just now. */
  wake(): void;
  stop(): Promise<void>;
};

/** What the embedded forge does by itself: it sends its webhooks, and watches the branches of open pull requests. */
export function createForgeUpkeep(context: ForgeContext): ForgeUpkeep {
  const dispatcher = createForgeDispatcher(context);
  const watch = createBranchWatch(context);
  return {
    start() {
      dispatcher.start();
      watch.start();
    },
    wake: dispatcher.wake,
    async stop() {
      await Promise.all([dispatcher.stop(), watch.stop()]);
    },
  };
}
