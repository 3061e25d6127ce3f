import { field, firstText, readText } from './json-fields.ts';
import { published } from './published.ts';
import { anyEqualInConstantTime, hmacOf } from './signature.ts';
import { type Delivery, type Reading, rejected, type WebhookSource } from './source.ts';

/** Actions that change nothing that a visitor sees. Those we don't know publish. */
const PUBLISHES_NOTHING: Readonly<Record<string, string>> = {
  created: 'what was created is on no page yet',
  saved: 'a draft was saved',
  added: 'people are not part of the site',
  removed: 'people are not part of the site',
  roles_updated: 'people are not part of the site',
  'stage.changed': 'a step of a workflow is no publish',
  workflow_stage_changed: 'a step of a workflow is no publish',
  comment_created: 'a discussion is not part of the site',
  comment_updated: 'a discussion is not part of the site',
  comment_deleted: 'a discussion is not part of the site',
  resolved: 'a discussion is not part of the site',
};

const TAKES_AWAY = ['unpublished', 'deleted'];

/** By which key a body tells what it is about, the more telling one first. */
const KINDS = [
  ['story', 'story_id'],
  ['asset', 'asset_id'],
  ['datasource', 'datasource_slug'],
  ['release', 'release_id'],
  ['pipeline', 'branch_id'],
] as const;

/** `The user a@b.c published the Story Title (its/slug)`, and perhaps the story's address on a second line. */
const TEXT = /^The user (.+?) \w+ the story (.+) \([^()]*\)/i;

/**
 * Storyblok (https://www.storyblok.com/docs/concepts/webhooks): the body under HMAC-SHA1, hex. No time is signed and no
 * id is sent. Stories, assets, datasources, releases and pipelines publish.
 */
export function storyblokSource(): WebhookSource {
  return {
    verify({ header, body }, secrets) {
      const signature = header('webhook-signature');
      if (!signature) return rejected('missing-header');
      const expected = secrets.map((secret) => hmacOf('sha1', secret, [body], 'hex'));
      return anyEqualInConstantTime(expected, signature) ? { ok: true, vendorId: null } : rejected('bad-signature');
    },
    read: (_request, body, delivery) => readAction(body, delivery),
  };
}

function readAction(body: unknown, delivery: Delivery): Reading {
  const topic = readText(field(body, 'action')) ?? '';
  const why = Object.hasOwn(PUBLISHES_NOTHING, topic) ? PUBLISHES_NOTHING[topic] : undefined;
  if (why !== undefined) return { kind: 'filtered', topic, why };
  const [kind, idKey] = KINDS.find(([, key]) => readText(field(body, key)) !== undefined) ?? [];
  const id = idKey && readText(field(body, idKey));
  const text = readText(field(body, 'text')) ?? '';
  const [, author, title] = TEXT.exec(text) ?? [];
  const slug = readText(field(body, 'full_slug'));
  return published(
    {
      source: 'storyblok',
      topic,
      action: TAKES_AWAY.includes(topic) ? 'unpublish' : 'publish',
      id,
      title: firstText(title, slug, text.split('\n')[0]),
      url: kind === 'story' ? editorLink(readText(field(body, 'space_id')), id) : undefined,
      author,
      contentType: kind,
      paths: slug === undefined ? undefined : [slug],
    },
    delivery,
  );
}

function editorLink(space: string | undefined, story: string | undefined): string | undefined {
  if (space === undefined || story === undefined) return undefined;
  return `https://app.storyblok.com/#/me/spaces/${encodeURIComponent(space)}/stories/0/0/${encodeURIComponent(story)}`;
}
