import { prepare } from './setup-fast.js';

/** Runs once before the integration and system tests: starts the servers that all their files share. */
export default async function setupServers() {
  await prepare();
  const { locateTimeSkippingServer } = await import('./helpers/locate-time-skipping-server.ts');
  const { startSharedServers } = await import('./helpers/shared-servers.ts');
  await locateTimeSkippingServer();
  globalThis.sharedServers = await startSharedServers();
}
