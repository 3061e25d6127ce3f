/** Stops what setup-servers.js started. */
export default async function teardownServers() {
  await globalThis.sharedServers?.stop();
}
