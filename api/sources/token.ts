import { parseJsonDelivery } from '../webhooks/json-delivery.ts';
import { plainSample } from '../webhooks/sample.ts';
import { tokenSource } from '../webhooks/token-source.ts';

/** Any system that signs nothing but can send a header. */
export const source = tokenSource({
  parse: (delivery) => parseJsonDelivery(delivery),
  sample: plainSample,
});
