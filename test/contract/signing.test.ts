import { generateKeyPairSync } from 'node:crypto';
import { createSigner, createVerifier } from '../../contract/signing.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const privateDer = privateKey.export({ type: 'pkcs8', format: 'der' });
const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const publicDer = publicKey.export({ type: 'spki', format: 'der' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const bytes = Buffer.from('{"formatVersion": 1}\n');

const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');

const privateForms = [privatePem, privatePem.replaceAll('\n', '\\n'), base64(privateDer), base64(privatePem)];
const publicForms = [publicPem, base64(publicDer), base64(publicDer.subarray(-32)), base64(publicPem)];

it('signs with a private key and verifies with a public one, in every form', () => {
  const signatures = new Set(privateForms.map((form) => createSigner(form).sign(bytes)));
  expect(signatures.size).toBe(1);
  for (const signature of signatures) {
    for (const form of publicForms) expect(createVerifier(form).verifies(bytes, `${signature}\n`)).toBe(true);
  }
});

it('rejects the signature of other bytes, of another key, and what is none', () => {
  const verifier = createVerifier(publicPem);
  const other = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signature = createSigner(privatePem).sign(bytes);
  expect(verifier.verifies(Buffer.concat([bytes, bytes]), signature)).toBe(false);
  expect(verifier.verifies(bytes, createSigner(other).sign(bytes))).toBe(false);
  for (const none of ['', 'abc', base64('x'.repeat(64))]) expect(verifier.verifies(bytes, none)).toBe(false);
});

it('names what it expected of a key, and never quotes it', () => {
  const rsaPrivate = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const rsaPublic = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  for (const key of ['', 'secret', publicPem, rsaPrivate]) {
    expect(() => createSigner(key)).toThrow(/^expected an ed25519 private key as PEM or base64/);
  }
  for (const key of ['', 'secret', privatePem, base64(privateDer), rsaPublic]) {
    expect(() => createVerifier(key)).toThrow(/^expected an ed25519 public key as PEM or base64/);
  }
});
