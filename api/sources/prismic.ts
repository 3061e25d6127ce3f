import { parseJson } from '../json-body.ts';
import { field, readText } from './json-fields.ts';
import { published } from './published.ts';
import { anyEqualInConstantTime } from './signature.ts';
import { rejected, type WebhookSource } from './source.ts';

/** Parts of an update that visitors don't see by themselves. */
const UNSEEN = ['releases', 'tags', 'masks', 'experiments'] as const;

/**
 * Prismic (https://prismic.io/docs/webhooks) signs nothing: the secret stands in the JSON body, so it must go no further
 * than here. No id is sent.
 */
export function prismicSource(): WebhookSource {
  return {
    verify({ body }, secrets) {
      const parsed = jsonOrNothing(body);
      const secret = field(parsed, 'secret');
      if (typeof secret !== 'string' || secret === '') return rejected('malformed-body');
      if (!anyEqualInConstantTime(secrets, secret)) return rejected('bad-signature');
      const idFrom = textWithoutSecret(parsed);
      return idFrom === undefined ? rejected('malformed-body') : { ok: true, vendorId: null, idFrom };
    },
    read(_request, body, delivery) {
      const topic = readText(field(body, 'type')) ?? '';
      if (topic === 'test-trigger') return { kind: 'filtered', topic, why: 'a test that was asked for in Prismic' };
      const masterRef = masterRefOf(body);
      const unseen = UNSEEN.filter((key) => holdsAnything(field(body, key)));
      if (masterRef === undefined && unseen.length > 0) {
        return { kind: 'filtered', topic, why: `only these changed: ${unseen.join(', ')}` };
      }
      const repository = readText(field(body, 'domain'));
      return published(
        {
          source: 'prismic',
          topic,
          // Prismic doesn't say whether a page came or went.
          action: 'publish',
          id: readText(field(body, 'documents', '0')) ?? masterRef,
          url: repository !== undefined && /^[\w-]+$/.test(repository) ? `https://${repository}.prismic.io` : undefined,
        },
        delivery,
      );
    },
  };
}

function jsonOrNothing(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined for a body that is nested deeper than anything could be written back: none of Prismic's is. */
function textWithoutSecret(body: unknown): string | undefined {
  try {
    return JSON.stringify(body, (key, value: unknown) => (key === 'secret' ? undefined : value));
  } catch {
    return undefined;
  }
}

function masterRefOf(body: unknown): string | undefined {
  return readText(field(body, 'masterRef'));
}

/** Prismic writes `{}` for no change and `{addition: […]}` for one. */
function holdsAnything(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((each) => !Array.isArray(each) || each.length > 0);
}
