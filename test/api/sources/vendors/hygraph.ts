import { createHmac } from 'node:crypto';
import {
  FIVE_MINUTES_MS,
  RECEIVED_AT,
  type SignedHeaders,
  type SignInput,
  type SourceCases,
  secretsOf,
  type Vendor,
} from '../vendor.ts';

/** As `@hygraph/utils` signs, but at any time: its own signer reads the clock. */
export function signHygraph({ secret, body, at }: SignInput): SignedHeaders {
  return signText(secret, at, JSON.stringify({ Body: body, EnvironmentName: 'master', TimeStamp: at.getTime() }));
}

/** Hygraph's service escapes `&`, `<` and `>` in the signed text, but not in the body that it sends. */
export function signEscapedHygraph({ secret, body, at }: SignInput): SignedHeaders {
  const escaped: Record<string, string> = { '&': '\\\\u0026', '<': '\\\\u003c', '>': '\\\\u003e' };
  const text = JSON.stringify({ Body: body, EnvironmentName: 'master', TimeStamp: at.getTime() });
  return signText(
    secret,
    at,
    text.replace(/[&<>]/g, (character) => escaped[character] ?? ''),
  );
}

function signText(secret: string, at: Date, text: string): SignedHeaders {
  const sign = createHmac('sha256', secret).update(text).digest('base64');
  return { 'content-type': 'application/json', 'gcms-signature': `sign=${sign}, env=master, t=${at.getTime()}` };
}

const data = {
  __typename: 'Article',
  createdAt: '2026-11-01T10:00:00.702044+00:00',
  createdBy: { __typename: 'User', id: 'user-0' },
  id: 'ckv8h2v6o0b3z0c57q2y5x9a1',
  localizations: [
    { locale: 'en', title: 'Hello', slug: 'hello' },
    { locale: 'de', title: 'Hallo', slug: 'hallo' },
  ],
  publishedAt: '2026-11-21T07:59:57.652216+00:00',
  publishedBy: { __typename: 'User', id: 'user-1' },
  stage: 'PUBLISHED',
  updatedAt: '2026-11-21T07:59:58.652216+00:00',
  updatedBy: { __typename: 'User', id: 'user-2' },
};
const publish = (body: unknown) => ({ operation: 'publish', data: body });
const asset = { __typename: 'Asset', id: 'a1', fileName: 'logo.svg', url: 'https://media.graphassets.com/x' };
const manyLanguages = [...Array(400_000).fill(0), { title: 'Last', slug: 'last' }];

const cases: SourceCases = {
  example: [
    publish(data),
    {
      contentType: 'Article',
      paths: ['hello', 'hallo'],
      event: { topic: 'publish', id: data.id, title: 'Hello', author: 'user-1', at: '2026-11-21T07:59:57.652Z' },
    },
  ],
  publishes: [
    ...['unpublish', 'delete'].flatMap((operation) =>
      ['PUBLISHED', 'DRAFT'].map((stage): SourceCases['publishes'][number] => [
        `${operation} of what is ${stage}`,
        { operation, data: { ...data, stage } },
        { event: { action: 'unpublish', topic: operation, author: 'user-2', at: '2026-11-21T07:59:58.652Z' } },
      ]),
    ),
    ...['create', 'update'].flatMap((operation) =>
      ['PUBLISHED', undefined].map((stage): SourceCases['publishes'][number] => [
        `${operation} in the stage ${stage}`,
        { operation, data: { ...data, stage } },
        {},
      ]),
    ),
    ['an asset', publish(asset), { event: { title: asset.fileName, url: asset.url } }],
    [
      'an entry with a name',
      publish({ id: 'a1', name: 'Ada', publishedBy: { name: 'Ada L', id: 'user-1' } }),
      { event: { title: 'Ada', author: 'Ada L' } },
    ],
    [
      'localizations that are no list',
      publish({ id: 'a1', localizations: { title: 'x' } }),
      { event: { title: 'a1' } },
    ],
    ['an entry with an id only', publish({ id: 'a1' }), { event: { id: 'a1', title: 'a1', at: RECEIVED_AT } }],
    ['an empty entry', publish({}), { event: { id: 'delivery-1', at: RECEIVED_AT } }],
    ['no entry', publish(null), { event: { id: 'delivery-1' } }],
    [
      'more languages than a call takes arguments',
      publish({ id: 'a1', localizations: manyLanguages }),
      { paths: ['last'], event: { title: 'Last' } },
    ],
  ],
  filtered: ['create', 'update'].map((operation) => [
    `${operation} of a draft`,
    { operation, data: { ...data, stage: 'DRAFT' } },
    operation,
    'a draft was saved',
  ]),
  keys: ['operation', 'data', 'stage', 'localizations', 'id', 'title', 'slug', 'publishedBy', 'url'],
};

export const vendor: Vendor = {
  secrets: secretsOf('hygraph'),
  scheme: {
    sign: signHygraph,
    signature: 'gcms-signature',
    signedParts: [
      [/env=master/, 'env=staging'],
      [/, env=master/, ''],
      [/t=\d/, 't=9'],
      [/, t=\d+/, ''],
    ],
    signsBody: true,
    pastMs: FIVE_MINUTES_MS,
  },
  cases,
};
