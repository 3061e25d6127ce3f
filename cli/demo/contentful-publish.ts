import { randomUUID } from 'node:crypto';
import { source } from '../../api/sources/contentful.ts';

/** The webhook that Contentful sends when an editor publishes an entry. */
interface PublishedEntry {
  id: string;
  title: string;
}

/** Sends a signed publish event, like Contentful. Resolves with the response's status and body. */
export async function publish(
  url: URL,
  secret: string,
  entry: PublishedEntry,
): Promise<{ status: number; body: string }> {
  const at = new Date();
  const json = {
    sys: { type: 'Entry', id: entry.id, updatedAt: at.toISOString() },
    fields: { title: { 'en-US': entry.title } },
  };
  const body = JSON.stringify(json);
  const outgoing = { body, json, secret, path: url.pathname, at, id: randomUUID() };
  const headers = { ...source.sign(outgoing, { secret }).headers };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, body: await response.text() };
}
