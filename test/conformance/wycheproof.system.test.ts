import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createVerifier } from '../../contract/signing.ts';
import { cacheFolder } from '../../embedded/cache-folder.ts';

const vectors = z.object({
  numberOfTests: z.int(),
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

test("keys in every form, and signatures, get wycheproof's verdicts", async () => {
  const file = join(cacheFolder(), 'wycheproof', 'ed25519_test.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`${file} is missing. Run: npm run setup:system`);
  });
  const { numberOfTests, testGroups } = vectors.parse(JSON.parse(text));
  const verdicts = testGroups.flatMap(({ publicKey, publicKeyDer, publicKeyPem, tests }) => {
    const forms = [
      publicKeyPem,
      base64(publicKeyDer),
      base64(publicKey.pk),
      Buffer.from(publicKeyPem).toString('base64'),
    ];
    return forms.map(createVerifier).flatMap((verifier) =>
      tests.map(({ tcId, msg, sig, result }) => {
        const found = verifier.verifies(Buffer.from(msg, 'hex'), base64(sig)) ? 'valid' : 'invalid';
        return { tcId, found, result };
      }),
    );
  });
  expect(verdicts.filter(({ found, result }) => found !== result)).toEqual([]);
  expect(verdicts).toHaveLength(4 * numberOfTests);
  expect(numberOfTests).toBeGreaterThan(100);
});
