import { z } from 'zod';
import { IDEMPOTENCY_KEY } from '../idempotency.ts';
import { type JsonSchema, parametersOf } from './json-schemas.ts';

/** The `Idempotency-Key` header of a request that creates something. */
export function idempotencyParameter(description: string): JsonSchema[] {
  const key = z.string().regex(IDEMPOTENCY_KEY).optional().meta({ description });
  return parametersOf('header', z.object({ 'Idempotency-Key': key }));
}
