import { prismicUpdate } from '../../signing/prismic.ts';
import { RECEIVED_AT, type SourceCases } from './source-cases.ts';

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

export const prismic: SourceCases = {
  source: 'prismic',
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
    ['a test', { type: 'test-trigger', secret: 'x' }, 'test-trigger', 'a test that was asked for in Prismic'],
  ],
  unknown: { bodies: [{}, null, [], 'x'] },
  keys: ['type', 'masterRef', 'releases', 'tags', 'masks', 'documents', 'domain', 'secret'],
};
