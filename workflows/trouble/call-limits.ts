/** Passing trouble is retried quickly at first; 30 s is the longest that a mended service is left waiting. */
export const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/**
 * One call to the Admin API has 15 s (the attempt a little more, to report them). The heartbeat timeout makes a killed
 * worker's call be noticed after 5 s instead.
 */
export const oneCall = { startToCloseTimeout: '20s', heartbeatTimeout: '5s', retry } as const;
