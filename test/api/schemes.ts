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
  signsBody: boolean;
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
    pastMs: 30_000,
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
    pastMs: 300_000,
  },
];
