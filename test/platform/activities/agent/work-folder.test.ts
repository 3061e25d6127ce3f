import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { withWorkFolder } from '../../../../platform/activities/agent/work-folder.ts';

it('removes the folder of its run, and folders of killed workers that are too old to be in use', async () => {
  const workDir = await mkdtemp(join(tmpdir(), 'galley-work-'));
  const context = { workDir, runTimeoutMs: 3_600_000, logger: pino({ level: 'silent' }) };
  try {
    for (const [name, hours] of [
      ['agent-dead', 4],
      ['agent-alive', 2],
      ['other', 4],
    ] as const) {
      await mkdir(join(workDir, name, 'files'), { recursive: true });
      const at = new Date(Date.now() - hours * 3_600_000);
      await utimes(join(workDir, name), at, at);
    }
    const seen = await withWorkFolder(context, () => readdir(workDir));
    expect(seen).toHaveLength(3);
    expect(seen).toEqual(expect.arrayContaining(['agent-alive', 'other']));
    await expect(withWorkFolder(context, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect((await readdir(workDir)).sort()).toEqual(['agent-alive', 'other']);
  } finally {
    await rm(workDir, { recursive: true });
  }
});
