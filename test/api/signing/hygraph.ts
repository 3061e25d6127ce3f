import { createHmac } from 'node:crypto';
import type { SignedHeaders, SignInput } from '../signing.ts';

/** As `@hygraph/utils` signs, but at any time: its own signer reads the clock. */
export function signHygraph({ secret, body, at }: SignInput): SignedHeaders {
  return signText(secret, at, JSON.stringify({ Body: body, EnvironmentName: 'master', TimeStamp: at.getTime() }));
}

/** As Hygraph's service signs a body with `&`, `<` or `>` in it, which come as they are over the wire. */
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
