import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleKey } from '../../../../../platform/objects/object-store.ts';
import { openBench } from '../../../../deployment/harness.ts';
import type { ExportedBundle, ExportRig } from '../../../../helpers/export-rig.ts';
import { type SiteHandler, startHttpSite } from '../../../../helpers/http-site.ts';
import { staticHost } from '../vitepress-site.ts';

export type ExportedSite = {
  exported: ExportedBundle;
  /** The archive, and the folder it is unpacked to. */
  archive: string;
  bundle: string;
};

/** Serves and exports a built site; the origin is stopped before the bundle is returned. */
export async function exportSite(
  rig: ExportRig,
  folder: string,
  handler: SiteHandler,
  settings: Record<string, unknown> = {},
): Promise<ExportedSite> {
  const bundle = join(folder, 'bundle');
  const archive = join(folder, 'bundle.tar.gz');
  await mkdir(bundle, { recursive: true });
  const origin = await startHttpSite(handler);
  const exported = await rig.run({ origin: origin.origin, settings }).finally(() => origin.close());
  await writeFile(archive, await rig.objects.read(bundleKey(exported.row.archiveSha256 ?? '')));
  await promisify(execFile)('tar', ['-xzf', archive, '-C', bundle], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  return { exported, archive, bundle };
}

export type Host = { root: string; close(): Promise<void> };

/** The product's own deployment of a bundle, at the root of its host. */
export async function startDeployment({ archive }: ExportedSite): Promise<Host> {
  const bench = await openBench();
  await bench.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
  const running = await bench.start();
  await running.until('serving', ({ state }) => state === 'serving');
  return { root: `${running.url}/`, close: () => bench.close() };
}

/** A plain host of the bundle's folder, which may stand below others. */
export async function startPlainHost({ bundle }: ExportedSite, prefix = '/'): Promise<Host> {
  const host = await startHttpSite(staticHost(bundle, { prefix }));
  return { root: host.origin + prefix, close: () => host.close() };
}
