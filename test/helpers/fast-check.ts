import fc from 'fast-check';

/**
 * Every run tries the same cases, so that a change fails for its own faults only. `FAST_CHECK_SEED=random` tries others, and a
 * number repeats a run that failed.
 */
const seed = process.env.FAST_CHECK_SEED ?? '1';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export default fc;
