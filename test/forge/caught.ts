import { ForgeError } from '../../forge/forge-error.ts';

/** The ForgeError of a failed call. Throws for any other outcome. */
export async function caught(call: Promise<unknown>): Promise<ForgeError> {
  const outcome = await call.then(
    (value) => new Error(`Expected a ForgeError, got ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof ForgeError) return outcome;
  throw outcome;
}
