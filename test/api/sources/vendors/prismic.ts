import { RECEIVED_AT, type SourceCases, type Vendor } from '../vendor.ts';

/** Prismic doesn't sign. It sends the secret in the body. */
export function withPrismicSecret(secret: string | null, change: object = {}): string {
  return JSON.stringify(prismicUpdate({ secret, ...change }));
}

/** Prismic's delivery for new content. */
export function prismicUpdate(change: object): object {
  return {
    type: 'api-update',
    masterRef: 'X6qn-RIAACMAVge1',
    releases: {},
    masks: {},
    tags: {},
    experiments: {},
    documents: ['X5w-mxIAACAAZJ2H'],
    domain: 'handbook',
    apiUrl: 'https://handbook.prismic.io/api',
    ...change,
  };
}

const PAGE = 'X5w-mxIAACAAZJ2H';
const update = (change: object = {}) =>
  prismicUpdate({ documents: [PAGE, 'X5w-mxIAACAAZJ2J'], secret: 'hush-hush', ...change });
const release = { id: 'r1', ref: 'X6-ref', label: 'Spring', documents: [PAGE] };
const invisible = (what: string, change: object): SourceCases['filtered'][number] => [
  `a change of ${what} only: ${JSON.stringify(change)}`,
  update({ masterRef: undefined, ...change }),
  'api-update',
  `only these changed: ${what}`,
];

const cases: SourceCases = {
  example: [
    update(),
    { event: { topic: 'api-update', id: PAGE, title: PAGE, url: 'https://handbook.prismic.io', at: RECEIVED_AT } },
  ],
  publishes: [
    ['a published release', update({ releases: { deletion: [release] } }), {}],
    ['an update without its new ref', update({ masterRef: undefined }), {}],
    ['a new type', { type: 'new-type', secret: 'hush' }, {}],
  ],
  filtered: [
    invisible('releases', { releases: { addition: [release] } }),
    invisible('releases', { releases: { update: [release] } }),
    invisible('tags', { tags: { addition: [{ id: 'new' }] }, documents: [] }),
    invisible('masks', { masks: { update: [{ id: 'page', label: 'Page' }] }, documents: [] }),
    ['a test', { type: 'test-trigger', secret: 'x' }, 'test-trigger', 'a test that was requested in Prismic'],
  ],
  unknown: { bodies: [{}, null, [], 'x'] },
  keys: ['type', 'masterRef', 'releases', 'tags', 'masks', 'documents', 'domain', 'secret'],
};

export const vendor: Vendor = {
  secrets: ['hush-prism-a', 'hush-prism-b', 'hush-prism-c'],
  cases,
  sample: { title: 'a-test-from-galley-webhook-send', url: 'https://galley-test.prismic.io' },
};
