import type { Filters, SampleEvent } from './source.ts';

/** The sample with the first allowed value of each filter, because a filtered sample would start nothing. */
export function withFilteredFields(
  sample: Readonly<Record<string, unknown>>,
  filters: Filters | undefined,
): Record<string, unknown> {
  return Object.entries(filters ?? {}).reduce<Record<string, unknown>>(
    (changed, [path, allowed]) => withValue(changed, path.split('.'), [allowed].flat()[0]),
    { ...sample },
  );
}

/** A sample with common names, for senders whose shape is unknown. */
export function plainSample({ uuid, title, slug, url, author, at }: SampleEvent): Record<string, unknown> {
  return {
    event: 'entry.publish',
    timestamp: at.toISOString(),
    entry: { id: uuid, title, slug, url, author },
  };
}

function withValue(value: unknown, [key, ...rest]: readonly string[], set: unknown): Record<string, unknown> {
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  if (key === undefined) return object;
  const before: unknown = Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
  return { ...object, [key]: rest.length === 0 ? set : withValue(before, rest, set) };
}
