import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleKey } from '../../../exporter/object-keys.ts';
import { openFixture } from '../../deployment/fixture.ts';
import type { ExportedBundle, ExportRig } from '../../helpers/export-rig.ts';
import { startHttpSite } from '../../helpers/http-site.ts';
import { staticHost } from './static-host.ts';

export type ExportedSite = {
  exported: ExportedBundle;
  /** The archive and the folder of its unpacked files. */
  archive: string;
  bundle: string;
};

/** Exports the site of a running origin and unpacks its bundle below a folder. */
export async function exportSite(
  rig: ExportRig,
  folder: string,
  origin: string,
  settings: Record<string, unknown> = {},
): Promise<ExportedSite> {
  const bundle = join(folder, 'bundle');
  const archive = join(folder, 'bundle.tar.gz');
  const exported = await rig.run({ origin, settings });
  await mkdir(bundle, { recursive: true });
  await writeFile(archive, await rig.objects.read(bundleKey(exported.row.archiveSha256 ?? '')));
  await promisify(execFile)('tar', ['-xzf', archive, '-C', bundle], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  return { exported, archive, bundle };
}

export type Host = { root: string; close(): Promise<void> };

/** Galley's deployment of a bundle, at the root of its host. */
export async function startDeployment({ archive }: ExportedSite): Promise<Host> {
  const fixture = await openFixture();
  await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
  const running = await fixture.start();
  await running.until('serving', ({ state }) => state === 'serving');
  return { root: `${running.url}/`, close: () => fixture.close() };
}

/** A plain static host of the bundle, optionally below a path prefix. */
export async function startPlainHost({ bundle }: ExportedSite, prefix = '/'): Promise<Host> {
  const host = await startHttpSite(staticHost(bundle, { prefix }));
  return { root: host.origin + prefix, close: () => host.close() };
}
