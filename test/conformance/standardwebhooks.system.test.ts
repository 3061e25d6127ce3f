import { createRequire } from 'node:module';
import { source } from '../../api/sources/standard.ts';
import { expectConformance, type Outcome, suitePath } from './conformance.ts';

const { Webhook } = createRequire(suitePath('package.json'))('standardwebhooks');

// The library reads the clock, so no age is near the limit of 5 minutes.
const NOW = new Date();
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = `whsec_${Buffer.alloc(64, 7).toString('base64')}`;

const BODIES = [
  '{}',
  '{"text": 1}',
  '{"text":"Über 手引き 🚀"}',
  '{"text":"\\u2028\\u0000"}',
  ' { } \n',
  `{"a":"${'x'.repeat(70_000)}"}`,
];
const SECRETS = [SECRET, SECRET.slice('whsec_'.length), OTHER];
const AGES_S = [0, 60, 200, 400, 3600, -30, -200, -400, -3600];
type Headers = Record<string, string>;
const SIGNATURES: [string, (signature: string) => string][] = [
  ['alone', (signature) => signature],
  ['after another one', (signature) => `v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= ${signature}`],
  ['before another one', (signature) => `${signature} v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=`],
  [
    'after an asymmetric one',
    (signature) =>
      `v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg== ${signature}`,
  ],
  ['of another version', (signature) => signature.replace('v1,', 'v2,')],
  ['without a version', (signature) => signature.slice('v1,'.length)],
  ['cut', (signature) => signature.slice(0, -2)],
  ['empty', () => ''],
  ['in lower case', (signature) => signature.toLowerCase()],
];

function verdictOfVendor(secret: string, body: string, headers: Headers): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

function verdictOfGalley(secret: string, body: string, headers: Headers): boolean {
  const context = { settings: source.settings.parse({ secret }), secrets: [secret], now: NOW };
  const request = {
    method: 'POST',
    path: '/webhooks/docs/standard',
    header: (name: string) => headers[name],
    body: Buffer.from(body),
  };
  const verified = source.verify(request, context);
  return 'ok' in verified && verified.ok;
}

test("each delivery gets the verdict of the standard's own library", () => {
  const outcomes: Outcome[] = [];
  for (const [bodyIndex, body] of BODIES.entries()) {
    for (const [secretIndex, secret] of SECRETS.entries()) {
      for (const ageS of AGES_S) {
        for (const [form, write] of SIGNATURES) {
          const at = new Date(NOW.getTime() - ageS * 1000);
          const headers = {
            'webhook-id': ID,
            'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
            'webhook-signature': write(new Webhook(SECRET).sign(ID, at, body)),
          };
          outcomes.push({
            name: `body ${bodyIndex + 1}, secret ${secretIndex + 1}, ${ageS} s old, signature ${form}`,
            passed: verdictOfGalley(secret, body, headers) === verdictOfVendor(secret, body, headers),
          });
        }
      }
    }
  }
  expectConformance({
    file: 'standardwebhooks',
    suite: 'Standard Webhooks',
    package: 'standardwebhooks',
    shows:
      'a delivery is accepted exactly if the library of the standard accepts it: bodies, secrets, ages, forms of signatures',
    outcomes,
  });
});
