import { createByteQueue } from '../../../../platform/activities/agent/byte-queue.ts';
import { createRunLog, plainText } from '../../../../platform/activities/agent/run-log.ts';

const logOf = (text: string, maxBytes = 1_000_000) => {
  const log = createRunLog({ maxBytes, secrets: ['sesame'] });
  for (const piece of text.match(/.{1,7}/gs) ?? []) log.write(Buffer.from(piece));
  log.end();
  return log;
};

describe('the log of a run', () => {
  it('contains the output with secrets masked', () => {
    const log = logOf('one\ntwo sesame\nthree');
    expect(String(log.bytes())).toBe('one\ntwo ***\nthree');
    expect(log.writtenBytes).toBe('one\ntwo ***\nthree'.length);
  });

  it('keeps the beginning and the end of a long output, and says how much is missing', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`).join('');
    const text = String(logOf(lines, 1_000).bytes());
    expect(text.startsWith('line 0\nline 1\n')).toBe(true);
    expect(text.endsWith('line 998\nline 999\n')).toBe(true);
    const [, leftOut] = /\[… (\d+) bytes left out …\]/.exec(text) ?? [];
    expect(Number(leftOut)).toBe(lines.length - 1_000);
  });

  it('stores single bytes in few blocks, and drops the oldest first', () => {
    const queue = createByteQueue();
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    for (const byte of bytes) queue.push(Uint8Array.of(byte));
    queue.push(new Uint8Array());
    expect(queue.parts().length).toBeLessThan(5);
    queue.dropFirst(70_000);
    queue.dropFirst(0);
    expect(Buffer.concat(queue.parts()).equals(bytes.subarray(70_000))).toBe(true);
    queue.push(bytes);
    expect(queue.sizeBytes).toBe(330_000);
    queue.dropFirst(1_000_000);
    expect([queue.sizeBytes, queue.parts()]).toEqual([0, []]);
  });

  it('has a tail without control characters and escape sequences', () => {
    const log = logOf(`${'x'.repeat(5_000)}\n10%\r50%\r100%\r\n\u001b[1;31mred\u001b[0m \0\u0007\u202eabc\u{1f511}`);
    expect(log.tail(14)).toBe('100%\nred abc\u{1f511}');
    expect([...log.tail(2_000)].length).toBe(2_000);
  });
});

describe('plain text', () => {
  it('keeps lines, tabs and every script', () => {
    expect(plainText('a\tb\nשלום 日本')).toBe('a\tb\nשלום 日本');
    expect(plainText('a\u202eb\u2066c\u200fd\u0085e\u009bf\u007f')).not.toMatch(/[\u202e\u2066\u200f\u0085\u009b]/);
  });
});
