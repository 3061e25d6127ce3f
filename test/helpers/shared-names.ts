import { relative, resolve } from 'node:path';

/** Variables that name the run's servers. Jest's workers inherit the environment of the process that starts them. */
export const SHARED = { postgres: 'GALLEY_TEST_POSTGRES_URL', temporal: 'GALLEY_TEST_TEMPORAL_ADDRESS' } as const;

/** The Temporal namespace of a test file: `test/api/receiver.integration.test.ts` has `api.receiver`. */
export function namespaceOf(testFile: string): string {
  const path = relative(resolve('test'), resolve(testFile));
  return path.replace(/(\.integration|\.system)?\.test\.ts$/, '').replaceAll(/[/\\]/g, '.');
}

/** The value of a SHARED variable. @throws Error if the tier has no servers. */
export function sharedServer(variable: (typeof SHARED)[keyof typeof SHARED]): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error('Run this file with npm run test:integration or npm run test:system');
  return value;
}
