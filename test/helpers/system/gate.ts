/** Blocks callers until it is opened, so that a test can stop the product at an exact point without sleeping. */
export interface Gate {
  /** The number of calls of `pass` so far. */
  arrivals: number;
  /** Waits until the gate is open. */
  pass(): Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    arrivals: 0,
    async pass() {
      this.arrivals += 1;
      await opened;
    },
    open: () => open(),
  };
}
