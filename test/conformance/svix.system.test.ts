import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';
import { signMessage } from '../../activities/notifications/sign-message.ts';
import { source } from '../../api/sources/standard.ts';
import { expectConformance, type Outcome, readSuite, suitePath } from './conformance.ts';

class WebhookVerificationError extends Error {}

/** Galley's source for signed deliveries in the form of Svix's class, so that Svix's own tests run against it. */
class Webhook {
  readonly secrets: readonly [string];

  constructor(secret: string) {
    source.settings.parse({ secret });
    this.secrets = [secret];
  }

  verify(payload: string, headers: Record<string, string>): void {
    const context = {
      settings: source.settings.parse({ secret: this.secrets[0] }),
      secrets: this.secrets,
      now: new Date(),
    };
    const header = (name: string) => headers[name];
    const request = { method: 'POST', path: '/webhooks/docs/standard', header, body: Buffer.from(payload) };
    const verified = source.verify(request, context);
    if (!('ok' in verified) || !verified.ok) throw new WebhookVerificationError('rejected');
  }

  sign(id: string, at: Date, body: string): string {
    const [secret] = this.secrets;
    const signed = source.sign({ id, at, body, json: {}, secret, path: '/' }, source.settings.parse({ secret }));
    return signed.headers['webhook-signature'] ?? '';
  }
}

/** Runs a CommonJS form of Svix's tests, with Galley in place of what they test. */
function runSvixTests(): Outcome[] {
  const outcomes: Outcome[] = [];
  const test = (name: string, body: () => void): void => {
    try {
      body();
      outcomes.push({ name, passed: true });
    } catch {
      outcomes.push({ name, passed: false });
    }
  };
  const { code } = transformSync(readSuite('node_modules/svix/src/webhook.test.ts'), {
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  const given: Record<string, unknown> = {
    '@stablelib/utf8': { encode: (text: string) => Buffer.from(text) },
    '@stablelib/base64': {
      encode: (bytes: Uint8Array) => Buffer.from(bytes).toString('base64'),
      decode: (text: string) => Buffer.from(text, 'base64'),
    },
    'fast-sha256': {
      hmac: (key: Uint8Array, bytes: Uint8Array) => createHmac('sha256', key).update(bytes).digest(),
    },
    'node:test': { test },
    'node:assert/strict': { strict: assert },
    './index': { Webhook, WebhookVerificationError },
  };
  new Function('require', 'exports', code)((name: string) => given[name], {});
  return outcomes;
}

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Notifications as Galley sends them, verified by Svix's library. */
async function verifyNotifications(): Promise<Outcome[]> {
  const library = suitePath('node_modules/svix/dist/index.mjs');
  const { Webhook: SvixWebhook } = await import(pathToFileURL(library).href);
  const rows: [what: string, body: object, secrets: string[], altered?: string][] = [
    ['ASCII', { text: 'published' }, [secret]],
    ['other scripts', { text: 'Über 手引き 🚀 \u2028' }, [secret]],
    ['escapes', { text: '"\\\n\u0000</script>' }, [secret]],
    ['two secrets, the first is old', {}, [`whsec_${Buffer.from('old').toString('base64')}`, secret]],
    ['another secret', {}, [`whsec_${Buffer.from('other').toString('base64')}`], 'secret'],
    ['an altered body', { text: 'a' }, [secret], 'body'],
  ];
  return rows.map(([what, body, secrets, altered]) => {
    const message = signMessage(body, { identity: what, secrets, now: new Date() });
    const sent = altered === 'body' ? `${message.body} ` : message.body;
    let accepted = true;
    try {
      new SvixWebhook(secret).verify(sent, message.headers);
    } catch {
      accepted = false;
    }
    return { name: `a notification with ${what}`, passed: accepted === (altered === undefined) };
  });
}

test("Svix's own tests pass on Galley, and Svix verifies what Galley sends", async () => {
  expectConformance({
    file: 'svix',
    suite: "Svix's tests of webhooks",
    package: 'svix',
    shows: 'its own tests pass with Galley in place of its library, and its library verifies notifications',
    outcomes: [...runSvixTests(), ...(await verifyNotifications())],
  });
});
