import { defaultFailureConverter, defaultPayloadConverter, type PayloadCodec } from '@temporalio/common';
import { readJobProgress } from '../../api/job-progress.ts';
import { createPayloadEncryption } from '../../programs/temporal/payload-encryption.ts';

const codec = (letter: string): PayloadCodec => createPayloadEncryption(Buffer.alloc(32, letter));

/** A workflow's description with one pending activity that has heartbeat details with its progress, encrypted. */
async function described() {
  const payload = defaultPayloadConverter.toPayload({ percent: 40, pageCount: 12 });
  const payloads = await codec('a').encode(payload === undefined ? [] : [payload]);
  return { raw: { pendingActivities: [{ heartbeatDetails: { payloads } }] } };
}

const readBy = async (...payloadCodecs: PayloadCodec[]) =>
  readJobProgress(await described(), {
    payloadConverter: defaultPayloadConverter,
    failureConverter: defaultFailureConverter,
    payloadCodecs,
  });

describe("an export's progress", () => {
  test('is read if it can be decrypted', async () => {
    expect(await readBy(codec('a'))).toEqual({ percent: 40, pageCount: 12 });
  });

  test('is null, without an error, for a process with another key or none', async () => {
    expect(await readBy(codec('b'))).toBeNull();
    expect(await readBy()).toBeNull();
  });
});
