import { readdirSync } from 'node:fs';
import { z } from 'zod';
import type { WebhookSource } from './source.ts';

const folder = new URL('../sources/', import.meta.url);

/** `name.ts`, or `name.js` once compiled; not the `name.d.ts` beside it. */
const SOURCE_FILE = /^([a-z][a-z\d]*)\.(?:ts|js)$/;

/** Every webhook source by its name. A file in api/sources/ is a source, so a new one needs no entry anywhere. */
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
  for (const file of readdirSync(folder).sort()) {
    const name = SOURCE_FILE.exec(file)?.[1];
    if (name === undefined) continue;
    const { source }: { source?: WebhookSource } = await import(new URL(file, folder).href);
    if (source === undefined) throw new Error(`api/sources/${file}: expected an export named source`);
    loaded.set(name, source);
  }
  return loaded;
}
