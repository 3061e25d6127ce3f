import { z } from 'zod';
import type { WebhookSource } from './source.ts';
import { sourceFiles } from './source-files.ts';

/** Every webhook source by its name. */
export const sources: ReadonlyMap<string, WebhookSource> = await loadSources();

/** The schema of a site's section `webhooks` in galley.yaml. */
export const webhooksSection = z.strictObject(
  Object.fromEntries([...sources].map(([name, { settings }]) => [name, settings.optional()])),
);

/** @throws Error if there is no such source: names come from a parsed galley.yaml. */
export function sourceNamed(name: string): WebhookSource {
  const source = sources.get(name);
  if (source === undefined) throw new Error(`there is no webhook source ${name}`);
  return source;
}

async function loadSources(): Promise<ReadonlyMap<string, WebhookSource>> {
  const loaded = new Map<string, WebhookSource>();
  for (const [name, url] of sourceFiles()) {
    const { source }: { source?: WebhookSource } = await import(url);
    if (source === undefined) throw new Error(`${url}: expected an export named source`);
    loaded.set(name, source);
  }
  return loaded;
}
