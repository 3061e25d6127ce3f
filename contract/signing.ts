import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** Signs bundles and transfer folders with the private key of `BUNDLE_SIGNING_KEY`. */
export type BundleSigner = {
  /** The ed25519 signature over exactly these bytes, in base64. */
  sign(bytes: Uint8Array): string;
};

/** Checks signatures with a public key such as `staticExport.publicKey`. */
type SignatureVerifier = {
  /** Whether the signature is one over exactly these bytes, in base64; white space around it is ignored. */
  verifies(bytes: Uint8Array, signature: string): boolean;
};

/** What `createSigner` accepts, for error messages. */
export const EXPECTED_PRIVATE_KEY =
  'expected an ed25519 private key as PEM or base64, as `openssl genpkey -algorithm ed25519` prints it';

/** What `createVerifier` accepts, for error messages. */
export const EXPECTED_PUBLIC_KEY =
  'expected an ed25519 public key as PEM or base64, as `openssl pkey -in key.pem -pubout` prints it';

/** Everything before the 32 bytes of an ed25519 key in its SPKI form (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const RAW_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * Reads a private key: PEM (PKCS #8), or base64 of the PEM or of its DER bytes.
 * @throws Error with `EXPECTED_PRIVATE_KEY` if it is anything else
 */
export function createSigner(text: string): BundleSigner {
  const key = ed25519(() => privateKeyOf(readKey(text)), EXPECTED_PRIVATE_KEY);
  return { sign: (bytes) => sign(null, bytes, key).toString('base64') };
}

/**
 * Reads a public key: PEM (SPKI), or base64 of the PEM, of its DER bytes or of the bare 32 bytes.
 * @throws Error with `EXPECTED_PUBLIC_KEY` if it is anything else, a private key too
 */
export function createVerifier(text: string): SignatureVerifier {
  const key = ed25519(() => publicKeyOf(readKey(text)), EXPECTED_PUBLIC_KEY);
  return {
    verifies(bytes, signature) {
      const written = Buffer.from(signature.trim(), 'base64');
      return written.length === SIGNATURE_BYTES && verify(null, bytes, key, written);
    },
  };
}

type ReadKey = { pem: string } | { der: Buffer };

/** Env files often join a key's lines by a literal \n. */
function readKey(text: string): ReadKey {
  const plain = text.replaceAll('\\n', '\n').trim();
  if (isPem(plain)) return { pem: plain };
  const der = Buffer.from(plain, 'base64');
  const decoded = der.toString('utf8');
  return isPem(decoded) ? { pem: decoded } : { der };
}

function isPem(text: string): boolean {
  return text.startsWith('-----BEGIN ');
}

function privateKeyOf(key: ReadKey): KeyObject {
  return 'pem' in key ? createPrivateKey(key.pem) : createPrivateKey({ key: key.der, format: 'der', type: 'pkcs8' });
}

function publicKeyOf(key: ReadKey): KeyObject {
  if ('pem' in key) {
    // Node would derive the public key, but a private key must not be in a values file.
    if (key.pem.includes('PRIVATE')) throw new Error(EXPECTED_PUBLIC_KEY);
    return createPublicKey(key.pem);
  }
  const der = key.der.length === RAW_KEY_BYTES ? Buffer.concat([SPKI_PREFIX, key.der]) : key.der;
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function ed25519(read: () => KeyObject, expected: string): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    // The cause could quote the key.
    throw new Error(expected);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(expected);
  return key;
}
