import { createForgeDispatcher } from './deliveries/create-dispatcher.ts';
import type { ForgeContext } from './forge-context.ts';
import { createBranchWatch } from './watch-branches.ts';

export type ForgeTasks = {
  start(): void;
  /** Call after webhooks were put into the outbox. */
  wake(): void;
  stop(): Promise<void>;
};

/** The embedded forge's background tasks: sending webhooks and watching the branches of open pull requests. */
export function createForgeTasks(context: ForgeContext): ForgeTasks {
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
