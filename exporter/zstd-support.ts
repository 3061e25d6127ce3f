import * as zlib from 'node:zlib';
import type { ContentCoding } from '../contract/content-coding.ts';

/**
 * Node's own; undefined before Node 22.15. Looked up by name, because the oldest supported Node's types don't have it.
 */
export const zstdCompress: unknown = Reflect.get(zlib, 'zstdCompress');

export const ZSTD_MISSING = `zstd needs Node 22.15 or newer, and this is ${process.version}`;

/** Whether this Node supports a coding. */
export function canCompress(coding: ContentCoding): boolean {
  return coding !== 'zstd' || typeof zstdCompress === 'function';
}
