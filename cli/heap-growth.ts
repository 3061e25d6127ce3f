import { setFlagsFromString } from 'node:v8';

/**
 * By how much the heap, with the buffers it holds, may outgrow what lives in it until that is looked through again, in
 * percent. With 50 the looking took a quarter of a worker's processor time: buffers of pages come and go by the
 * megabyte, and each time all that lives is looked through for them.
 */
const GROWTH_PERCENT = 100;
/** Where new objects of a thread begin, in MB, twice over: by itself V8 takes 16. */
const OTHER_THREADS_YOUNG_MB = 4;

/**
 * Lets V8 collect old garbage earlier, in all threads of this process. By itself it takes memory for cheap where the
 * machine has plenty, and lets a heap grow to four times what lives in it: a worker that needs 80 MB would take 240, and
 * be ended by the limit its container has. Threads that begin later (workflows run in one, and make little garbage) also
 * get by with little room for new objects.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  setFlagsFromString(`--max-semi-space-size=${OTHER_THREADS_YOUNG_MB}`);
}
