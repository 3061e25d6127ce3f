import type { WebhookSourceName } from '../../contract/webhook-sources.ts';
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

/** How one source signs. Prismic has none: its secret is in the body. */
export type Scheme = {
  source: WebhookSourceName;
  /** Two secrets that may sign, as during a rotation, and one of somebody else. */
  secrets: readonly [string, string, string];
  settings?: object;
  sign: (input: SignInput) => SignedHeaders | Promise<SignedHeaders>;
  /** The header of the signature. */
  signature: string;
  /** Headers without which a delivery is rejected, beside the signature. */
  required?: string[];
  /** Headers whose change breaks the signature. */
  signed?: string[];
  /** Parts of the signature's header that are protected, each as it is written and as it is forged. */
  signedParts?: [part: RegExp, forged: string][];
  /** False if only a token is compared. */
  signsBody: boolean;
  /** The sender's own id of the delivery, if it sends one. */
  idOf?: (headers: SignedHeaders, body: string) => string | undefined;
  /** The oldest signed time that is accepted, if a time is signed. */
  pastMs?: number;
};

const secretsOf = (source: string) => [`${source}-a`, `${source}-b`, `${source}-c`] as const;
const base64Secret = (letter: string): string => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`;
const FIVE_MINUTES_MS = 300_000;
const CONTENTFUL = [
  'x-contentful-signed-headers',
  'x-contentful-timestamp',
  'x-contentful-topic',
  'x-contentful-idempotency-key',
];

const tokenScheme = (source: WebhookSourceName, sign: Scheme['sign']): Scheme => ({
  source,
  secrets: secretsOf(source),
  sign,
  signature: 'authorization',
  signsBody: false,
});

export const schemes: Scheme[] = [
  {
    source: 'standard',
    secrets: [base64Secret('a'), base64Secret('b'), base64Secret('c')],
    sign: signStandard,
    signature: 'webhook-signature',
    required: ['webhook-id', 'webhook-timestamp'],
    signed: ['webhook-id', 'webhook-timestamp'],
    signsBody: true,
    idOf: (headers) => headers['webhook-id'],
    pastMs: FIVE_MINUTES_MS,
  },
  {
    source: 'github',
    secrets: secretsOf('github'),
    sign: (input) => signGithub(input),
    signature: 'x-hub-signature-256',
    required: ['x-github-event', 'x-github-delivery'],
    signsBody: true,
    idOf: (headers) => headers['x-github-delivery'],
  },
  {
    source: 'contentful',
    secrets: ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)],
    sign: (input) => signContentful(input),
    signature: 'x-contentful-signature',
    required: CONTENTFUL,
    signed: [...CONTENTFUL, 'content-type'],
    signsBody: true,
    idOf: (headers) => headers['x-contentful-idempotency-key'],
    pastMs: 30_000,
  },
  {
    source: 'sanity',
    secrets: secretsOf('sanity'),
    sign: (input) => signSanity(input),
    signature: 'sanity-webhook-signature',
    signedParts: [
      [/t=\d/, 't=9'],
      [/(?<=t=\d+)\d(?=,)/, ''],
      [/v1=/, 'v0='],
    ],
    signsBody: true,
    idOf: (headers) => headers['idempotency-key'],
    pastMs: FIVE_MINUTES_MS,
  },
  {
    source: 'ghost',
    secrets: secretsOf('ghost'),
    sign: (input) => signGhost(input),
    signature: 'x-ghost-signature',
    signedParts: [
      [/t=\d/, 't=9'],
      [/, t=\d+/, ''],
      [/sha256=/, 'sha1='],
    ],
    signsBody: true,
    pastMs: FIVE_MINUTES_MS,
  },
  {
    source: 'storyblok',
    secrets: secretsOf('storyblok'),
    sign: signStoryblok,
    signature: 'webhook-signature',
    signsBody: true,
  },
  {
    source: 'hygraph',
    secrets: secretsOf('hygraph'),
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
  {
    source: 'kontent',
    secrets: secretsOf('kontent'),
    sign: (input) => signKontent(input),
    signature: 'x-kontent-ai-signature',
    signsBody: true,
  },
  {
    source: 'webflow',
    secrets: secretsOf('webflow'),
    sign: signWebflow,
    signature: 'x-webflow-signature',
    required: ['x-webflow-timestamp'],
    signed: ['x-webflow-timestamp'],
    signsBody: true,
    pastMs: FIVE_MINUTES_MS,
  },
  {
    source: 'woocommerce',
    secrets: secretsOf('woocommerce'),
    sign: (input) => signWoocommerce(input),
    signature: 'x-wc-webhook-signature',
    required: ['x-wc-webhook-topic', 'x-wc-webhook-delivery-id'],
    signsBody: true,
    idOf: woocommerceId,
  },
  tokenScheme('strapi', (input) => signStrapi(input)),
  tokenScheme('directus', signToken),
  {
    ...tokenScheme('payload', signPayload),
    settings: { header: 'X-Galley-Token' },
    signature: 'x-galley-token',
  },
  tokenScheme('wordpress', (input) => signWordpress(input)),
  tokenScheme('token', signToken),
  {
    source: 'hmac',
    secrets: secretsOf('hmac'),
    settings: HMAC_SETTINGS,
    sign: signHmac,
    signature: 'x-signature',
    required: ['x-time', 'x-id'],
    signed: ['x-time'],
    signsBody: true,
    idOf: (headers) => headers['x-id'],
    pastMs: FIVE_MINUTES_MS,
  },
];
