/** The status code of a gRPC failure, which Temporal's client may wrap as the cause; undefined for any other error. */
export function grpcCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'number' ? code : grpcCode(Reflect.get(error, 'cause'));
}
