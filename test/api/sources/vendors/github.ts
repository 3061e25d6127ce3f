import { randomUUID } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { type SignedHeaders, type SignInput, secretsOf, type Vendor } from '../vendor.ts';

export async function signGithub({ secret, body }: SignInput, event = 'push'): Promise<SignedHeaders> {
  return {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': await new Webhooks({ secret }).sign(body),
  };
}

export const vendor: Vendor = {
  secrets: secretsOf('github'),
  settings: { branch: 'release' },
  scheme: {
    sign: (input) => signGithub(input),
    signature: 'x-hub-signature-256',
    required: ['x-github-event', 'x-github-delivery'],
    signsBody: true,
    idOf: (headers) => headers['x-github-delivery'],
  },
  sample: { url: expect.stringMatching(/^https:\/\/github\.com\/.*\/commit\/[0-9a-f]{40}$/) },
};
