import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { sha256Hex } from '../../base/sha256.ts';

const ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A payload before encryption: its metadata and data in base64. */
const plainPayload = z.object({ metadata: z.record(z.string(), z.string()), data: z.string().nullable() });

/**
 * Encrypts every payload (prompts, links, events) before it is sent to Temporal: AES-256-GCM, the form `iv | ciphertext
 * | tag`, with the key's fingerprint in the metadata. Unencrypted older payloads can still be read.
 * @param key encrypts; 32 bytes. @param older decrypt what was written before the last rotation.
 */
export function createPayloadEncryption(key: Buffer, ...older: readonly Buffer[]): PayloadCodec {
  const keyId = keyIdOf(key);
  const keys = new Map([key, ...older].map((each) => [keyIdOf(each), each]));
  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, key, keyId)),
    decode: async (payloads) => payloads.map((payload) => decrypt(payload, keys)),
  };
}

/** Identifies a key without revealing anything about it. */
function keyIdOf(key: Buffer): string {
  return sha256Hex(key).slice(0, 16);
}

function encrypt(payload: Payload, key: Buffer, keyId: string): Payload {
  const metadata = Object.entries(payload.metadata ?? {}).map(([name, value]) => [name, base64(value)] as const);
  const plain: z.infer<typeof plainPayload> = {
    metadata: Object.fromEntries(metadata),
    data: payload.data ? base64(payload.data) : null,
  };
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const parts = [iv, cipher.update(JSON.stringify(plain), 'utf8'), cipher.final(), cipher.getAuthTag()];
  return {
    metadata: { encoding: Buffer.from(ENCODING), 'encryption-key-id': Buffer.from(keyId) },
    data: Buffer.concat(parts),
  };
}

function decrypt(payload: Payload, keys: ReadonlyMap<string, Buffer>): Payload {
  if (text(payload.metadata?.encoding) !== ENCODING) return payload;
  const keyId = text(payload.metadata?.['encryption-key-id']);
  const key = keys.get(keyId);
  if (key === undefined)
    throw new Error(`GALLEY_ENCRYPTION_KEY lacks the key ${keyId} that this workflow's data was encrypted with`);
  const sealed = Buffer.from(payload.data ?? []);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const opened = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
  const plain = plainPayload.parse(JSON.parse(opened.toString('utf8')));
  const metadata = Object.entries(plain.metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')] as const);
  return {
    metadata: Object.fromEntries(metadata),
    data: plain.data === null ? null : Buffer.from(plain.data, 'base64'),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function text(bytes: Uint8Array | null | undefined): string {
  return bytes ? Buffer.from(bytes).toString('utf8') : '';
}
