import { latenessOfBody, latenessOfHead } from '../../../exporter/fetch/late-response.ts';
import { ResponseBody } from '../../../exporter/fetch/response-body.ts';

const PACE = { requestTimeoutMs: 60_000, idleTimeoutMs: 20_000 };
const SECOND = 1_000;
const STALLED = 'the body stalled: nothing came for 20 seconds';

let nowMs: number;
let body: ResponseBody;

beforeEach(() => {
  nowMs = 0;
  const source = { pause: () => undefined, resume: () => undefined, abort: () => undefined };
  body = new ResponseBody(source, 100_000, () => nowMs);
});

const lateness = () => latenessOfBody(body, 0, PACE);

describe('a response is late', () => {
  it('if its head has not arrived within the timeout', () => {
    expect(latenessOfHead(5, PACE)).toEqual({ at: 60_005, reason: 'no response within 60 seconds' });
  });

  it('if its body has stalled since the last piece', () => {
    expect(lateness()).toEqual({ at: 20 * SECOND, reason: STALLED });
    nowMs = 15 * SECOND;
    body.push(Buffer.alloc(50_000));
    expect(lateness()).toEqual({ at: 35 * SECOND, reason: STALLED });
    body.finish('whole');
    expect(lateness()).toBeUndefined();
  });

  it('if its body is too slow, even if it never stalls', () => {
    for (nowMs = 0; nowMs < 60 * SECOND; nowMs += 10 * SECOND) body.push(Buffer.alloc(128));
    const reason = 'the body comes too slowly: less than 1024 bytes a second';
    expect(lateness()).toEqual({ at: 60 * SECOND + (6 * 128 * SECOND) / 1024, reason });
  });

  it('never while we pause it, and that time does not count later', async () => {
    body.push(Buffer.alloc(100_001));
    nowMs = 3_600 * SECOND;
    expect(lateness()?.at).toBe(Number.POSITIVE_INFINITY);
    const pieces = body.pieces();
    await pieces.next();
    expect(lateness()).toEqual({ at: 3_620 * SECOND, reason: STALLED });
    nowMs += 10 * SECOND;
    body.push(Buffer.alloc(1));
    expect(lateness()).toEqual({ at: 3_630 * SECOND, reason: STALLED });
  });
});
