// The tasks of the threads in bounded-threads.test.ts.

export function begin(): void {}

export function double(value: number): number {
  return 2 * value;
}

/** Counts that it runs, and waits until it may end. */
export function wait({ runs, mayEnd }: { runs: Int32Array; mayEnd: Int32Array }): string {
  Atomics.add(runs, 0, 1);
  Atomics.wait(mayEnd, 0, 0);
  return 'ended';
}

export function neverEnd(): void {
  for (;;);
}

export function fillMemory(): number {
  const all: number[][] = [];
  for (;;) all.push(Array.from({ length: 100_000 }, (_, index) => index + all.length));
}

export function fail(why: string): never {
  throw new RangeError(why);
}
