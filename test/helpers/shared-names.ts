import { relative, resolve } from 'node:path';

/** Environment variables with the run's servers. Jest's workers inherit them. */
export const SHARED = { postgres: 'GALLEY_TEST_POSTGRES_URL', temporal: 'GALLEY_TEST_TEMPORAL_ADDRESS' } as const;

/** The Temporal namespace of a test file, such as `api.receiver` for `test/api/receiver.integration.test.ts`. */
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
