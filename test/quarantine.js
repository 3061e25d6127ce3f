/**
 * Test files known to be flaky. They don't run, `.ci/run` lists them, and what they claim counts as unproven until they
 * are fixed. Keep this list empty: fix the test or the product instead.
 * @type {{ file: string, since: string, reason: string, claim: string }[]}
 */
export const QUARANTINE = [];
