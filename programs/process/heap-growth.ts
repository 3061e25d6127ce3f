import { setFlagsFromString } from 'node:v8';

/**
 * How much the heap, with its buffers, may grow over its live data before the next collection, in percent. With 50,
 * collecting took a quarter of a worker's processor time: page buffers come and go by the megabyte, and each collection
 * scans all live data.
 */
const GROWTH_PERCENT = 100;
/** Size of a thread's young generation in MB, twice over; V8's default is 16. */
const OTHER_THREADS_YOUNG_MB = 4;

/**
 * Makes V8 collect old garbage earlier, in all threads of this process. By default it lets a heap grow to four times
 * its live data if the machine has memory: a worker that needs 80 MB would take 240 and be killed by its container's
 * limit. Threads that start later (one runs workflows and makes little garbage) also get a small young generation.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  setFlagsFromString(`--max-semi-space-size=${OTHER_THREADS_YOUNG_MB}`);
}
