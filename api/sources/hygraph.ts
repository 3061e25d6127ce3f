import { isUtf8 } from 'node:buffer';
import { field, firstInstant, firstTextOf, readLink, readText } from '../webhooks/json-fields.ts';
import { acceptWithin, anyEqualInConstantTime, hmacOf, readTimestampMs, timeWindow } from '../webhooks/signature.ts';
import { defineSource, plainSettings, published, rejected } from '../webhooks/source.ts';

const SIGNATURE = /^sign=([A-Za-z0-9+/=]+),\s*env=([^,]*),\s*t=(\d+)$/;

/** The environment that a sample comes from. */
const SAMPLE_ENVIRONMENT = 'master';

/**
 * Hygraph (https://hygraph.com/docs/api-reference/basics/webhooks): a JSON object of the body, the environment and the
 * time under HMAC-SHA256, base64. Publish, unpublish and delete operations publish; a saved draft does not.
 */
export const source = defineSource({
  settings: plainSettings,

  verify({ header, body }, { settings, secrets, now }) {
    const given = header('gcms-signature');
    if (!given) return rejected('missing-header');
    const [, signature, environment, timestamp] = SIGNATURE.exec(given) ?? [];
    const signedAtMs = readTimestampMs(timestamp ?? '', 'ms');
    if (signature === undefined || environment === undefined || signedAtMs === undefined) {
      return rejected('malformed-header');
    }
    // The body is signed as a text. Decoding would replace bytes that aren't UTF-8 before they are verified.
    if (!isUtf8(body)) return rejected('bad-signature');
    const texts = signedTexts(body.toString('utf8'), environment, signedAtMs);
    const expected = secrets.flatMap((secret) => texts.map((text) => hmacOf('sha256', secret, [text], 'base64')));
    if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
    return acceptWithin(timeWindow(settings.window), signedAtMs, now, null);
  },

  parse(delivery) {
    const { body } = delivery;
    const topic = readText(field(body, 'operation')) ?? '';
    const data = field(body, 'data');
    if ((topic === 'create' || topic === 'update') && readText(field(data, 'stage')) === 'DRAFT') {
      return { kind: 'filtered', topic, why: 'a draft was saved' };
    }
    const action = topic === 'unpublish' || topic === 'delete' ? 'unpublish' : 'publish';
    const places = [data, ...listOf(field(data, 'localizations'))];
    const inAnyLanguage = (key: string) => places.map((place) => field(place, key));
    const paths = ['path', 'slug'].flatMap(inAnyLanguage).flatMap((value) => readText(value) ?? []);
    const people = [action === 'publish' ? field(data, 'publishedBy') : undefined, field(data, 'updatedBy')];
    return published(
      {
        topic,
        action,
        id: readText(field(data, 'id')),
        title: firstTextOf(['title', 'name', 'slug', 'fileName'].flatMap(inAnyLanguage)),
        url: readLink(field(data, 'url')),
        author: firstTextOf(people.flatMap((person) => [field(person, 'name'), field(person, 'id')])),
        at: firstInstant(action === 'publish' ? field(data, 'publishedAt') : undefined, field(data, 'updatedAt')),
        contentType: readText(field(data, '__typename')),
        paths,
      },
      delivery,
    );
  },

  sample({ uuid, title, slug, url, author, at }) {
    const time = at.toISOString();
    return {
      operation: 'publish',
      data: {
        __typename: 'Article',
        id: `c${uuid.replaceAll('-', '').slice(0, 24)}`,
        stage: 'PUBLISHED',
        title,
        slug,
        url,
        createdAt: time,
        updatedAt: time,
        publishedAt: time,
        publishedBy: { __typename: 'User', id: 'galley', name: author },
      },
    };
  },

  sign({ at, body, secret }) {
    const t = at.getTime();
    const [, escaped] = signedTexts(body, SAMPLE_ENVIRONMENT, t);
    const signature = hmacOf('sha256', secret, [escaped], 'base64');
    return { headers: { 'gcms-signature': `sign=${signature}, env=${SAMPLE_ENVIRONMENT}, t=${t}` } };
  },
});

/**
 * What may have been signed. Hygraph's service escapes `&`, `<` and `>` before it signs; its own verifier doesn't. Both
 * texts stand for the same JSON, so accepting either is safe.
 */
function signedTexts(body: string, environment: string, timestampMs: number): [plain: string, escaped: string] {
  const text = JSON.stringify({ Body: body, EnvironmentName: environment, TimeStamp: timestampMs });
  const escaped = text.replaceAll('&', '\\\\u0026').replaceAll('<', '\\\\u003c').replaceAll('>', '\\\\u003e');
  return [text, escaped];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
