import { Agent, setGlobalDispatcher } from 'undici';
import { createConnector } from './connector.ts';

/** Applies to all requests of the process (connector.ts). */
export function surviveEndedResponses(): void {
  setGlobalDispatcher(new Agent({ connect: createConnector() }));
}
