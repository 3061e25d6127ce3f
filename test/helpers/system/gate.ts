/** Holds whoever comes to it until it is opened: how a test stops the product at an exact point without sleeping. */
export interface Gate {
  /** How many have come so far, held or not. */
  arrivals: number;
  /** Waits until the gate is open; at once when it is. */
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
