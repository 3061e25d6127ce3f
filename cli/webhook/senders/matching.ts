import type { TestEvent } from '../sender.ts';

/** Values at paths with dots, as a source's `filters` in galley.yaml name them. */
type Filters = Readonly<Record<string, string | readonly string[]>>;

/** The sample with the first allowed value at each path: what the site's filters turn away would show nothing. */
export function matching(
  filters: Filters | undefined,
  sample: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.entries(filters ?? {}).reduce<Record<string, unknown>>(
    (changed, [path, allowed]) => withValue(changed, path.split('.'), [allowed].flat()[0]),
    { ...sample },
  );
}

/** A sample for whoever knows of no shape but common names: what an unknown sender may write. */
export function plainSample(filters: Filters | undefined, event: TestEvent): Record<string, unknown> {
  const { uuid, title, slug, url, author, at } = event;
  const entry = { id: uuid, title, slug, url, author };
  return matching(filters, { event: 'entry.publish', timestamp: at.toISOString(), entry });
}

function withValue(value: unknown, [key, ...rest]: readonly string[], set: unknown): Record<string, unknown> {
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  if (key === undefined) return object;
  const before: unknown = Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
  return { ...object, [key]: rest.length === 0 ? set : withValue(before, rest, set) };
}
