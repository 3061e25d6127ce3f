import { mkdir, writeFile } from 'node:fs/promises';
import { plainReason, plainText } from '../../base/plain-reason.ts';

test.each([
  ['connect ECONNREFUSED 127.0.0.1:7233', '127.0.0.1:7233: nothing listens there'],
  ['no answer (connect ECONNREFUSED (an address):1)', 'no answer (nothing listens there)'],
  ['getaddrinfo ENOTFOUND cms.internal', 'cms.internal: the host name is unknown'],
  ['listen EADDRINUSE: address already in use 127.0.0.1:3000', '127.0.0.1:3000: the port is in use'],
  ["EACCES: permission denied, open '/srv/.a-1.tmp'", 'the folder /srv: permission is denied'],
  [
    "EXDEV: cross-device link not permitted, rename '/a' -> '/b'",
    "EXDEV: cross-device link not permitted, rename '/a' -> '/b'",
  ],
  ["a: EROFS: read-only file system, rename '/a/.b.tmp' -> '/a/b'", 'a: /a/b: it is read-only'],
  ['expected a readable file at /nowhere (ENOENT)', 'expected a readable file at /nowhere (it does not exist)'],
  [
    'https://a.example is away: connect ECONNREFUSED 127.0.0.1:1. See',
    'https://a.example is away: 127.0.0.1:1: nothing listens there. See',
  ],
  ["EACCES: permission denied, open '/sys/x.tar.gz.4089.part'", '/sys/x.tar.gz: permission is denied'],
  ["ENOSPC: no space left on device, open '/mnt/.docs.18628.part/a/b.html'", '/mnt/docs: the disk is full'],
  ['http://[2001:db8::12]:3000 has two', 'http://[2001:db8::12]:3000 has two'],
  ['ENOSPC: no space left on device, write', 'the disk is full'],
  ['Failed: tonic::transport::Error(Transport, hyper::Error(Connect, "x"))', 'Failed: it can not be reached'],
  ['set TEMPORAL_ADDRESS, EXPORT_KEEP or PORT', 'set TEMPORAL_ADDRESS, EXPORT_KEEP or PORT'],
])('%s reads: %s', (text, plain) => {
  expect(plainText(text)).toBe(plain);
});

test('an error of Node names the path', async () => {
  const errors = await Promise.all([
    writeFile('/nowhere/a', '').catch(plainReason),
    mkdir('/proc/self/x').catch(plainReason),
    plainReason(new Error('as it is')),
  ]);
  expect(errors).toEqual(['/nowhere/a: it does not exist', '/proc/self/x: it does not exist', 'as it is']);
});
