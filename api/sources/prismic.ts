import { parseJson } from '../json-body.ts';
import { field, readText } from '../webhooks/json-fields.ts';
import { anyEqualInConstantTime } from '../webhooks/signature.ts';
import { defineSource, plainSettings, published, rejected, SigningError } from '../webhooks/source.ts';

/** Parts of an update that visitors don't see. */
const INVISIBLE = ['releases', 'tags', 'masks', 'experiments'] as const;

/**
 * Prismic (https://prismic.io/docs/webhooks) signs nothing and sends no id: the secret is in the JSON body, so the body
 * must not leave the receiver.
 */
export const source = defineSource({
  settings: plainSettings,

  verify({ body }, { secrets }) {
    const parsed = jsonOrUndefined(body);
    const secret = field(parsed, 'secret');
    if (typeof secret !== 'string' || secret === '') return rejected('malformed-body');
    if (!anyEqualInConstantTime(secrets, secret)) return rejected('bad-signature');
    const idFrom = withoutSecret(parsed);
    return idFrom === undefined ? rejected('malformed-body') : { ok: true, vendorId: null, idFrom };
  },

  parse(delivery) {
    const { body } = delivery;
    const topic = readText(field(body, 'type')) ?? '';
    if (topic === 'test-trigger') return { kind: 'filtered', topic, why: 'a test that was requested in Prismic' };
    const masterRef = readText(field(body, 'masterRef'));
    const invisible = INVISIBLE.filter((key) => hasChanges(field(body, key)));
    if (masterRef === undefined && invisible.length > 0) {
      return { kind: 'filtered', topic, why: `only these changed: ${invisible.join(', ')}` };
    }
    const repository = readText(field(body, 'domain'));
    return published(
      {
        topic,
        // Prismic doesn't say whether a page was added or removed.
        action: 'publish',
        id: readText(field(body, 'documents', '0')) ?? masterRef,
        url: repository !== undefined && /^[\w-]+$/.test(repository) ? `https://${repository}.prismic.io` : undefined,
      },
      delivery,
    );
  },

  /** Documents have nothing but their ids, so the id names the sample. */
  sample: ({ slug, uuid }) => ({
    type: 'api-update',
    masterRef: uuid,
    releases: {},
    masks: {},
    tags: {},
    documents: [slug],
    domain: 'galley-test',
    apiUrl: 'https://galley-test.prismic.io/api',
  }),

  sign({ json, secret }) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new SigningError('body', 'expected a JSON object, because prismic carries its secret in it');
    }
    const given: unknown = Object.hasOwn(json, 'secret') ? Reflect.get(json, 'secret') : null;
    return { headers: {}, body: JSON.stringify({ ...json, secret: given ?? secret }) };
  },
});

function jsonOrUndefined(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined if the body is nested too deep to be serialized, which none of Prismic's is. */
function withoutSecret(body: unknown): string | undefined {
  try {
    return JSON.stringify(body, (key, value: unknown) => (key === 'secret' ? undefined : value));
  } catch {
    return undefined;
  }
}

/** Prismic writes `{}` for no change and `{addition: […]}` for one. */
function hasChanges(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((each) => !Array.isArray(each) || each.length > 0);
}
