/** The header that asks a client to wait: whole seconds, rounded up, at least one. */
export function retryAfter(seconds: number): { 'Retry-After': string } {
  return { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
}
