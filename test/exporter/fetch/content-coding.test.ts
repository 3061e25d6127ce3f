import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import {
  decodeBody,
  decodePieces,
  readContentEncoding,
  UnreadableBody,
} from '../../../exporter/fetch/content-coding.ts';

const TEXT = 'hello '.repeat(50);
const packed = gzipSync(TEXT);
const named = Buffer.concat([
  Buffer.from([0x1f, 0x8b, 8, 0b1_1110, 0, 0, 0, 0, 0, 3]),
  Buffer.from([2, 0, 1, 2]),
  Buffer.from('name\0comment\0'),
  Buffer.from([0, 0]),
  packed.subarray(10),
]);
const junk = Buffer.from('\njunk');

const decode = async (encoding: string | string[], body: Buffer, maxBytes = 10_000): Promise<string> =>
  String(await decodeBody(body, readContentEncoding([encoding].flat()), maxBytes));

async function decodeInPieces(encoding: string, body: Buffer): Promise<string> {
  const chunks: Buffer[] = [];
  const pieces = [body.subarray(0, 7), body.subarray(7)];
  for await (const chunk of decodePieces(pieces, readContentEncoding([encoding]))) chunks.push(chunk);
  return String(Buffer.concat(chunks));
}

describe('a body is decoded as in browsers', () => {
  it.each([
    ['UTF-8', Buffer.from(TEXT)],
    ['none', Buffer.from(TEXT)],
    ['binary', Buffer.from(TEXT)],
    ['aws-chunked', Buffer.from(TEXT)],
    ['aws-chunked,gzip', packed],
    ['gzip, aws-chunked', packed],
    [['aws-chunked', 'gzip'], packed],
    ['identity, GZIP', packed],
    ['gzip,', packed],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['gzip, gzip, gzip', gzipSync(gzipSync(packed))],
    [['gzip', 'br'], brotliCompressSync(packed)],
    ['gzip', Buffer.concat([packed, junk])],
    ['gzip', Buffer.concat([packed, Buffer.alloc(20)])],
    ['gzip', Buffer.concat([packed, Buffer.from([0x1f, 0x8b, 0xff])])],
    ['gzip', packed.subarray(0, -8)],
    ['gzip', Buffer.concat([packed.subarray(0, -8), Buffer.from('12345678')])],
    ['gzip', Buffer.concat([named, junk])],
    ['gzip', Buffer.concat([gzipSync(TEXT.slice(0, 9)), gzipSync(TEXT.slice(9))])],
    ['deflate', Buffer.concat([deflateSync(TEXT), junk])],
    ['br', Buffer.concat([brotliCompressSync(TEXT), junk])],
  ])('%j', async (encoding, body) => {
    expect(await decode(encoding, body)).toBe(TEXT);
  });

  it('is empty if a coding of nothing is named', async () => {
    expect(await decode('gzip', Buffer.alloc(0))).toBe('');
  });

  it.each([
    ['gzip', packed],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['gzip, br', brotliCompressSync(packed)],
    ['UTF-8', Buffer.from(TEXT)],
  ])('also piece by piece: %s', async (encoding, body) => {
    expect(await decodeInPieces(encoding, body)).toBe(TEXT);
  });
});

describe('a body that can’t be decoded is a failure, not half a file', () => {
  it.each([
    ['gzip', Buffer.from(TEXT)],
    ['gzip', packed.subarray(0, -12)],
    ['gzip', Buffer.concat([packed, packed.subarray(0, -12)])],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0b1000, 0, 0, 0, 0, 0, 3, 65])],
    ['deflate', Buffer.from(TEXT)],
    ['br', Buffer.from(TEXT)],
    ['zstd', Buffer.from(TEXT)],
    ['x-compress', Buffer.from(TEXT)],
    ['gzip, gzip, gzip, gzip, gzip, gzip', packed],
  ])('%s', async (encoding, body) => {
    await expect((async () => decode(encoding, body))()).rejects.toBeInstanceOf(UnreadableBody);
  });

  it('never unpacks to more than the maximum, also with bytes after the end', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    await expect(decode('gzip', bomb, 1_000)).rejects.toThrow('larger than 1000 bytes');
    await expect(decode('gzip', Buffer.concat([bomb, junk]), 1_000)).rejects.toBeInstanceOf(UnreadableBody);
  });

  it('piece by piece', async () => {
    await expect(decodeInPieces('gzip', Buffer.from(TEXT))).rejects.toBeInstanceOf(UnreadableBody);
    async function* broken(): AsyncGenerator<Buffer> {
      yield packed.subarray(0, 20);
      throw new Error('the connection broke');
    }
    const reading = (async () => {
      for await (const _ of decodePieces(broken(), ['gzip']));
    })();
    await expect(reading).rejects.toThrow('the connection broke');
  });
});
