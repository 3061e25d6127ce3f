import fc from 'fast-check';

/**
 * Every run tries the same cases, so that a change fails only because of its own bugs. `FAST_CHECK_SEED=random` tries
 * others, and a number repeats a failed run.
 */
const seed = process.env.FAST_CHECK_SEED ?? '1';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export default fc;
