import type { Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type RawHead, rawAnswer } from './raw-site.ts';

export const MAX_BODY_BYTES = 2_000_000;

/** The bytes that an origin sends, and the expected result of the fetcher. */
export type MalformedAnswer = {
  name: string;
  send: (socket: Socket) => void;
  outcome: { body: string } | { reason: RegExp; isLate?: true };
  /** The most bytes that the origin may have sent. */
  maxSentBytes?: number;
};

const TEN_GB = 10_000_000_000;
const PIECE = Buffer.alloc(64 * 1024, '<p>more of the same</p>');
/** Allowance for the loopback's buffers. */
const IN_FLIGHT_BYTES = 16 * 1024 * 1024;
const TOO_LARGE = { reason: new RegExp(`larger than ${MAX_BODY_BYTES}`) };
const CUT = { reason: /other side closed|terminated|the connection was closed|end before/i };
const LATE = { reason: /^no response within 200 ms$/, isLate: true } as const;
const SLOW = { reason: /^the body comes too slowly: less than 1024 bytes a second$/, isLate: true } as const;
const NOT_HTTP = { reason: /Parse Error|Response (body length )?does not match|Invalid/i };

/** Writes pieces as long as the other side reads them, up to 10 GB. */
function flood(socket: Socket, head: string): void {
  socket.write(head);
  let sent = 0;
  const more = (): void => {
    while (!socket.destroyed && sent < TEN_GB) {
      sent += PIECE.length;
      if (!socket.write(PIECE)) {
        socket.once('drain', more);
        return;
      }
    }
  };
  more();
}

function drip(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(piece), 50);
  socket.once('close', () => clearInterval(timer));
}

const whole = (body: string | Buffer, head?: RawHead) => (socket: Socket) => void socket.write(rawAnswer(body, head));
const thenClose = (text: string) => (socket: Socket) => void socket.end(text, 'latin1');

const BOMB_PARTS = 20;
const bomb = Buffer.alloc(50_000_000);
const fastest = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const part = gzipSync(bomb);
/** A gigabyte of zeros. Every gzip decoder reads concatenated parts as one file. */
const gzipBomb = Buffer.concat(Array.from({ length: BOMB_PARTS }, () => part));

export const MALFORMED: readonly MalformedAnswer[] = [
  {
    name: 'ten-gigabytes',
    send: (socket) => flood(socket, 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n'),
    outcome: TOO_LARGE,
    maxSentBytes: MAX_BODY_BYTES + IN_FLIGHT_BYTES,
  },
  {
    name: 'ten-gigabytes-announced',
    send: (socket) => flood(socket, `HTTP/1.1 200 OK\r\nContent-Length: ${TEN_GB}\r\n\r\n`),
    outcome: TOO_LARGE,
    maxSentBytes: IN_FLIGHT_BYTES,
  },
  {
    name: 'ten-gigabytes-of-error-page',
    send: (socket) => flood(socket, 'HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n'),
    outcome: { reason: /HTTP 404/ },
    maxSentBytes: IN_FLIGHT_BYTES,
  },
  {
    name: 'ten-gigabytes-of-headers',
    send: (socket) => flood(socket, 'HTTP/1.1 200 OK\r\nX-Long: '),
    outcome: { reason: /header/i },
    maxSentBytes: IN_FLIGHT_BYTES,
  },
  { name: 'gzip-bomb', send: whole(gzipBomb, { headers: ['Content-Encoding: gzip'] }), outcome: TOO_LARGE },
  {
    name: 'gzip-bomb-in-gzip',
    send: whole(gzipSync(gzipBomb), { headers: ['Content-Encoding: gzip, gzip'] }),
    outcome: TOO_LARGE,
  },
  {
    name: 'brotli-bomb',
    send: whole(brotliCompressSync(bomb, fastest), { headers: ['Content-Encoding: br'] }),
    outcome: TOO_LARGE,
  },
  {
    name: 'no-gzip-at-all',
    send: whole('plain', { headers: ['Content-Encoding: gzip'] }),
    outcome: { reason: /can't be decoded/ },
  },
  {
    name: 'cut-gzip',
    send: whole(gzipSync('half of it').subarray(0, 15), { headers: ['Content-Encoding: gzip'] }),
    outcome: { reason: /can't be decoded/ },
  },
  {
    name: 'many-encodings',
    send: whole('x', { headers: [`Content-Encoding: ${'gzip,'.repeat(6)}`] }),
    outcome: { reason: /too many content encodings/ },
  },
  {
    name: 'dripping-body',
    send: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', 'x'),
    outcome: SLOW,
  },
  { name: 'dripping-head', send: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'X: y\r\n'), outcome: LATE },
  { name: 'silence', send: () => undefined, outcome: LATE },
  { name: 'early-hints', send: (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'), outcome: LATE },
  {
    name: 'length-too-long',
    send: (socket) => void socket.end(rawAnswer('short', { length: 500 })),
    outcome: CUT,
  },
  // The bytes after the length belong to no response.
  { name: 'length-too-short', send: whole('whole and more', { length: 5 }), outcome: { body: 'whole' } },
  { name: 'length-negative', send: whole('x', { length: -5 }), outcome: NOT_HTTP },
  { name: 'length-no-number', send: whole('x', { length: 'ten' }), outcome: NOT_HTTP },
  { name: 'length-twice', send: whole('xy', { length: 1, headers: ['Content-Length: 2'] }), outcome: NOT_HTTP },
  {
    name: 'length-and-chunks',
    send: whole('0\r\n\r\n', { headers: ['Transfer-Encoding: chunked'] }),
    outcome: NOT_HTTP,
  },
  {
    name: 'chunk-without-end',
    send: thenClose('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nonly this'),
    outcome: CUT,
  },
  {
    name: 'chunk-without-end-nor-future',
    send: thenClose('HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nonly this'),
    outcome: NOT_HTTP,
  },
  {
    name: 'chunk-of-nonsense',
    send: thenClose('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhm\r\n0\r\n\r\n'),
    outcome: NOT_HTTP,
  },
  {
    name: 'chunk-beyond-numbers',
    send: thenClose('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\nx'),
    outcome: NOT_HTTP,
  },
  { name: 'no-http', send: thenClose('220 mail.example.com ESMTP\r\n'), outcome: NOT_HTTP },
  { name: 'nothing', send: (socket) => void socket.end(), outcome: CUT },
  { name: 'reset', send: (socket) => void socket.resetAndDestroy(), outcome: CUT },
  {
    name: 'switching',
    send: thenClose('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n'),
    outcome: { reason: /^the response breaks the rules of HTTP$/ },
  },
  { name: 'odd-type', send: whole('odd', { type: `${'x'.repeat(9_000)}; charset=\xff` }), outcome: { body: 'odd' } },
  { name: 'no-type.txt', send: whole('plain', { type: '' }), outcome: { body: 'plain' } },
  {
    name: 'nowhere',
    send: whole('', { status: '302 Found', headers: ['Location: http://'] }),
    outcome: { reason: /redirects to "http:/ },
  },
];
