import type { ObjectStore } from './object-store.ts';

export type HeldStore = ObjectStore & {
  /** Makes deletions wait until the returned function is called. */
  holdDeletes(): () => void;
};

/** A store of this process alone whose deletions can wait, so that a backup finds everything that its database names. */
export function withHeldDeletes(objects: ObjectStore): HeldStore {
  const holds = new Set<Promise<void>>();
  const released = async (): Promise<void> => {
    while (holds.size > 0) await Promise.all(holds);
  };
  return {
    ...objects,
    async delete(keys) {
      await released();
      await objects.delete(keys);
    },
    holdDeletes() {
      let release = () => {};
      const hold = new Promise<void>((resolve) => {
        release = resolve;
      });
      holds.add(hold);
      return () => {
        holds.delete(hold);
        release();
      };
    },
  };
}
