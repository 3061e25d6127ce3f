import { field, firstText, readText } from '../webhooks/json-fields.ts';
import { anyEqualInConstantTime, hmacOf } from '../webhooks/signature.ts';
import { defineSource, plainSettings, published, rejected } from '../webhooks/source.ts';

const SIGNATURE_HEADER = 'webhook-signature';

/** Actions that change nothing that a visitor sees. Unknown actions publish. */
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

const REMOVALS = ['unpublished', 'deleted'];

/** The kinds of content, each with the key of its id; the most specific first. */
const KINDS = [
  ['story', 'story_id'],
  ['asset', 'asset_id'],
  ['datasource', 'datasource_slug'],
  ['release', 'release_id'],
  ['pipeline', 'branch_id'],
] as const;

/** `The user a@b.c published the Story Title (its/slug)`, sometimes with the story's URL on a second line. */
const TEXT = /^The user (.+?) \w+ the story (.+) \([^()]*\)/i;

/**
 * Storyblok (https://www.storyblok.com/docs/concepts/webhooks): the body under HMAC-SHA1, hex. It signs no time and sends
 * no id, and two publishes of one story have the same body. Stories, assets, datasources, releases and pipelines publish.
 */
export const source = defineSource({
  settings: plainSettings,

  verify({ header, body }, { secrets }) {
    const signature = header(SIGNATURE_HEADER);
    if (!signature) return rejected('missing-header');
    const expected = secrets.map((secret) => hmacOf('sha1', secret, [body], 'hex'));
    return anyEqualInConstantTime(expected, signature) ? { ok: true, vendorId: null } : rejected('bad-signature');
  },

  parse(delivery) {
    const { body } = delivery;
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
        topic,
        action: REMOVALS.includes(topic) ? 'unpublish' : 'publish',
        id,
        title: firstText(title, slug, text.split('\n')[0]),
        url: kind === 'story' ? editorLink(readText(field(body, 'space_id')), id) : undefined,
        author,
        contentType: kind,
        paths: slug === undefined ? undefined : [slug],
      },
      delivery,
    );
  },

  sample: ({ number, title, slug, author }) => ({
    text: `The user ${author} published the Story ${title} (${slug})`,
    action: 'published',
    space_id: 100_000,
    story_id: number,
    full_slug: slug,
  }),

  sign: ({ body, secret }) => ({ headers: { [SIGNATURE_HEADER]: hmacOf('sha1', secret, [body], 'hex') } }),
});

function editorLink(space: string | undefined, story: string | undefined): string | undefined {
  if (space === undefined || story === undefined) return undefined;
  return `https://app.storyblok.com/#/me/spaces/${encodeURIComponent(space)}/stories/0/0/${encodeURIComponent(story)}`;
}
