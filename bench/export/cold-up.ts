import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FREE_PORTS } from '../../test/helpers/free-port.ts';
import { startGalley } from '../../test/helpers/galley.ts';
import { temporaryFolder } from '../with-cleanups.ts';
import type { ExportBench } from './bench.ts';
import { exportOverHttp } from './export-client.ts';
import { secondsText } from './figure.ts';
import { type Usage, usageOf, usageText } from './process-usage.ts';

const DOMAIN = 'docs.example.test';

/** Starts `galley up` in an empty folder and measures the first export of its platform, without the start. */
export async function coldUpExport(
  { lifetime, progress }: ExportBench,
  { origin, what }: { origin: string; what: string },
): Promise<Usage & { seconds: number; pageCount: number }> {
  const folder = await temporaryFolder(lifetime, 'galley-up-');
  const config = join(folder, 'galley.yaml');
  await writeFile(config, `sites: {docs: {domain: ${DOMAIN}, origin: "${origin}"}}\n`);
  const home = join(folder, 'state');
  const up = await startGalley(
    ['up'],
    { ...FREE_PORTS, GALLEY_HOME: home, GALLEY_CONFIG: config, TMPDIR: folder },
    folder,
  );
  try {
    const [, url = ''] = / platform (\S+)/.exec(up.ready) ?? [];
    const key = (await readFile(join(home, 'admin-api-key'), 'utf8')).trim();
    const before = await usageOf(up.process.pid ?? 0);
    const { seconds, pageCount } = await exportOverHttp(url, { id: 'prj_docs', domain: DOMAIN, key }, lifetime.signal);
    const after = await usageOf(up.process.pid ?? 0);
    const cpuSeconds = (after?.cpuSeconds ?? Number.NaN) - (before?.cpuSeconds ?? Number.NaN);
    const measured = { seconds, pageCount, cpuSeconds, peakMb: after?.peakMb ?? Number.NaN };
    progress(`${what}: ${secondsText(seconds)}, ${pageCount} pages; ${usageText(measured)}`);
    return measured;
  } finally {
    await up.stop();
  }
}
