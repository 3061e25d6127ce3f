import { z } from 'zod';
import { createVerifier } from '../../contract/signing.ts';
import { expectConformance, readSuite } from './conformance.ts';

const vectors = z.object({
  testGroups: z.array(
    z.object({
      publicKey: z.object({ pk: z.string() }),
      publicKeyDer: z.string(),
      publicKeyPem: z.string(),
      tests: z.array(
        z.object({ tcId: z.int(), msg: z.string(), sig: z.string(), result: z.enum(['valid', 'invalid']) }),
      ),
    }),
  ),
});

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

test("bundle keys in every form, and signatures, get wycheproof's verdicts", () => {
  const { testGroups } = vectors.parse(JSON.parse(readSuite('go/wycheproof/ed25519_test.json')));
  const outcomes = testGroups.flatMap(({ publicKey, publicKeyDer, publicKeyPem, tests }) => {
    const forms = {
      PEM: publicKeyPem,
      DER: base64(publicKeyDer),
      'bare bytes': base64(publicKey.pk),
      'PEM in base64': Buffer.from(publicKeyPem).toString('base64'),
    };
    return Object.entries(forms).flatMap(([form, key]) => {
      const verifier = createVerifier(key);
      return tests.map(({ tcId, msg, sig, result }) => {
        const found = verifier.verifies(Buffer.from(msg, 'hex'), base64(sig)) ? 'valid' : 'invalid';
        return { name: `${tcId}, key as ${form}`, passed: found === result };
      });
    });
  });
  expectConformance({
    file: 'wycheproof',
    suite: 'Wycheproof, ed25519',
    package: 'github.com/c2sp/wycheproof',
    shows: 'a signature of a bundle is accepted exactly if it is valid, with the public key in each form',
    outcomes,
  });
});
