import { Readable } from 'node:stream';
import { joinAgentLogs } from '../../../../platform/api/agent/read-agent-log.ts';

test('a log that fails before its reader comes to it fails the reading, not the process', async () => {
  const log = new Readable({ read: () => undefined });
  const parts = joinAgentLogs({ get: async () => log }, [{ run: 1, logKey: 'log', startedAt: null }]);
  expect(String((await parts.next()).value)).toBe('=== run 1 ===\n');
  log.destroy(new Error('reset'));
  await new Promise((resolve) => log.once('close', resolve));
  await expect(parts.next()).rejects.toThrow('reset');
});
