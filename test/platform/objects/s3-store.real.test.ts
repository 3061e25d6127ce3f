import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import { startS3 } from '../../helpers/s3.ts';
import { objectStoreContract, type StoreUnderTest } from './object-store.contract.ts';

/** The standard AWS chain reads the environment first; the tests' own is put back afterwards. */
async function startStore(): Promise<StoreUnderTest> {
  const s3 = await startS3();
  const saved = { ...process.env };
  process.env.AWS_ACCESS_KEY_ID = s3.credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.credentials.secretAccessKey;
  const store = await createObjectStore({ url: s3.url });
  return {
    store,
    follow: (url, init) => fetch(url, init),
    async stop() {
      await store.close();
      await s3.stop();
      process.env = saved;
    },
  };
}

describe('an S3 server as object store', () => objectStoreContract(startStore));
