import { execFileSync } from 'node:child_process';
import { prepare } from './setup-fast.js';

/** Runs once before the integration and system tests: starts the servers that all their files share. */
export default async function setupServers() {
  endIfToolsAreMissing();
  await prepare();
  const { locateTimeSkippingServer } = await import('./helpers/locate-time-skipping-server.ts');
  const { startSharedServers } = await import('./helpers/shared-servers.ts');
  await locateTimeSkippingServer();
  globalThis.sharedServers = await startSharedServers();
}

/** Otherwise each test that needs a missing tool would hang until its timeout or fail with a message of its own. */
function endIfToolsAreMissing() {
  const missing = execFileSync('scripts/setup-integration', ['--missing'], { encoding: 'utf8' }).trim();
  if (missing === '') return;
  process.stderr.write(`These tests need packages that are missing: ${missing}. Run: npm run setup:integration\n`);
  process.exit(1);
}
