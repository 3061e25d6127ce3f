import { signDirectus } from './signing/directus.ts';
import { signGhost } from './signing/ghost.ts';
import { signHygraph } from './signing/hygraph.ts';
import { signKontent } from './signing/kontent.ts';
import { signPayload } from './signing/payload.ts';
import { signSanity } from './signing/sanity.ts';
import { signStoryblok } from './signing/storyblok.ts';
import { signStrapi } from './signing/strapi.ts';
import { signWebflow } from './signing/webflow.ts';
import { signWoocommerce, woocommerceId } from './signing/woocommerce.ts';
import { signWordpress } from './signing/wordpress.ts';
import {
  HMAC_SETTINGS,
  type SignedHeaders,
  type SignInput,
  signContentful,
  signGithub,
  signHmac,
  signStandard,
  signToken,
} from './signing.ts';

/** How one source signs, for the tests that hold every source to the same. */
export type Scheme = {
  source: string;
  /** Two secrets that may sign, as while one is rotated out. */
  secrets: [string, string];
  foreignSecret: string;
  settings?: object;
  sign: (input: SignInput) => SignedHeaders | Promise<SignedHeaders>;
  signatureHeader: string;
  /** Headers without which a delivery is refused. */
  required: string[];
  /** Headers whose change breaks the signature. */
  signed: string[];
  /** What else must not be changed: parts of a header that holds several, each as it is written and as it is forged. */
  signedParts?: [header: string, part: RegExp, forged: string][];
  signsBody: boolean;
  /** The sender's own id of the delivery; null where it sends none, and the body's hash is the id. */
  idOf: (headers: SignedHeaders, body: string) => string | null;
  /** The window, where a time is signed. */
  pastMs?: number;
};

const base64Secret = (letter: string): string => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;

export const schemes: Scheme[] = [
  {
    source: 'standard',
    secrets: [base64Secret('a'), base64Secret('b')],
    foreignSecret: base64Secret('c'),
    sign: signStandard,
    signatureHeader: 'webhook-signature',
    required: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    signed: ['webhook-id', 'webhook-timestamp'],
    signsBody: true,
    idOf: (headers) => headers['webhook-id'] ?? null,
    pastMs: 300_000,
  },
  {
    source: 'github',
    secrets: ['octo-a', 'octo-b'],
    foreignSecret: 'octo-c',
    sign: (input) => signGithub(input),
    signatureHeader: 'x-hub-signature-256',
    required: ['x-hub-signature-256', 'x-github-event', 'x-github-delivery'],
    signed: [],
    signsBody: true,
    idOf: (headers) => headers['x-github-delivery'] ?? null,
  },
  {
    source: 'contentful',
    secrets: ['a'.repeat(64), 'b'.repeat(64)],
    foreignSecret: 'c'.repeat(64),
    sign: (input) => signContentful(input),
    signatureHeader: 'x-contentful-signature',
    required: [
      'x-contentful-signature',
      'x-contentful-signed-headers',
      'x-contentful-timestamp',
      'x-contentful-topic',
      'x-contentful-idempotency-key',
    ],
    signed: [
      'x-contentful-signed-headers',
      'x-contentful-timestamp',
      'x-contentful-topic',
      'x-contentful-idempotency-key',
      'content-type',
    ],
    signsBody: true,
    idOf: (headers) => headers['x-contentful-idempotency-key'] ?? null,
    pastMs: 30_000,
  },
  {
    source: 'sanity',
    secrets: ['sane-a', 'sane-b'],
    foreignSecret: 'sane-c',
    sign: (input) => signSanity(input),
    signatureHeader: 'sanity-webhook-signature',
    required: ['sanity-webhook-signature'],
    signed: [],
    signedParts: [
      ['sanity-webhook-signature', /t=\d/, 't=9'],
      ['sanity-webhook-signature', /(?<=t=\d+)\d(?=,)/, ''],
      ['sanity-webhook-signature', /v1=/, 'v0='],
    ],
    signsBody: true,
    idOf: (headers) => headers['idempotency-key'] ?? null,
    pastMs: 300_000,
  },
  {
    source: 'ghost',
    secrets: ['boo-a', 'boo-b'],
    foreignSecret: 'boo-c',
    sign: (input) => signGhost(input),
    signatureHeader: 'x-ghost-signature',
    required: ['x-ghost-signature'],
    signed: [],
    signedParts: [
      ['x-ghost-signature', /t=\d/, 't=9'],
      ['x-ghost-signature', /, t=\d+/, ''],
      ['x-ghost-signature', /sha256=/, 'sha1='],
    ],
    signsBody: true,
    idOf: () => null,
    pastMs: 300_000,
  },
  {
    source: 'storyblok',
    secrets: ['story-a', 'story-b'],
    foreignSecret: 'story-c',
    sign: signStoryblok,
    signatureHeader: 'webhook-signature',
    required: ['webhook-signature'],
    signed: [],
    signsBody: true,
    idOf: () => null,
  },
  {
    source: 'hygraph',
    secrets: ['graph-a', 'graph-b'],
    foreignSecret: 'graph-c',
    sign: signHygraph,
    signatureHeader: 'gcms-signature',
    required: ['gcms-signature'],
    signed: [],
    signedParts: [
      ['gcms-signature', /env=master/, 'env=staging'],
      ['gcms-signature', /, env=master/, ''],
      ['gcms-signature', /t=\d/, 't=9'],
      ['gcms-signature', /, t=\d+/, ''],
    ],
    signsBody: true,
    idOf: () => null,
    pastMs: 300_000,
  },
  {
    source: 'kontent',
    secrets: ['tent-a', 'tent-b'],
    foreignSecret: 'tent-c',
    sign: (input) => signKontent(input),
    signatureHeader: 'x-kontent-ai-signature',
    required: ['x-kontent-ai-signature'],
    signed: [],
    signsBody: true,
    idOf: () => null,
  },
  {
    source: 'webflow',
    secrets: ['flow-a', 'flow-b'],
    foreignSecret: 'flow-c',
    sign: signWebflow,
    signatureHeader: 'x-webflow-signature',
    required: ['x-webflow-signature', 'x-webflow-timestamp'],
    signed: ['x-webflow-timestamp'],
    signsBody: true,
    idOf: () => null,
    pastMs: 300_000,
  },
  {
    source: 'woocommerce',
    secrets: ['shop-a', 'shop-b'],
    foreignSecret: 'shop-c',
    sign: (input) => signWoocommerce(input),
    signatureHeader: 'x-wc-webhook-signature',
    required: ['x-wc-webhook-signature', 'x-wc-webhook-topic', 'x-wc-webhook-delivery-id'],
    signed: [],
    signsBody: true,
    idOf: woocommerceId,
  },
  {
    source: 'strapi',
    secrets: ['strapi-a', 'strapi-b'],
    foreignSecret: 'strapi-c',
    sign: (input) => signStrapi(input),
    signatureHeader: 'authorization',
    required: ['authorization'],
    signed: [],
    signsBody: false,
    idOf: () => null,
  },
  {
    source: 'directus',
    secrets: ['directus-a', 'directus-b'],
    foreignSecret: 'directus-c',
    sign: signDirectus,
    signatureHeader: 'authorization',
    required: ['authorization'],
    signed: [],
    signsBody: false,
    idOf: () => null,
  },
  {
    source: 'payload',
    secrets: ['payload-a', 'payload-b'],
    foreignSecret: 'payload-c',
    settings: { header: 'X-Galley-Token' },
    sign: signPayload,
    signatureHeader: 'x-galley-token',
    required: ['x-galley-token'],
    signed: [],
    signsBody: false,
    idOf: () => null,
  },
  {
    source: 'wordpress',
    secrets: ['wordpress-a', 'wordpress-b'],
    foreignSecret: 'wordpress-c',
    sign: (input) => signWordpress(input),
    signatureHeader: 'authorization',
    required: ['authorization'],
    signed: [],
    signsBody: false,
    idOf: () => null,
  },
  {
    source: 'token',
    secrets: ['token-a', 'token-b'],
    foreignSecret: 'token-c',
    sign: signToken,
    signatureHeader: 'authorization',
    required: ['authorization'],
    signed: [],
    signsBody: false,
    idOf: () => null,
  },
  {
    source: 'hmac',
    secrets: ['hush-a', 'hush-b'],
    foreignSecret: 'hush-c',
    settings: HMAC_SETTINGS,
    sign: signHmac,
    signatureHeader: 'x-signature',
    required: ['x-signature', 'x-time', 'x-id'],
    signed: ['x-time'],
    signsBody: true,
    idOf: (headers) => headers['x-id'] ?? null,
    pastMs: 300_000,
  },
];
