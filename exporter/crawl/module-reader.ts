import { readDocument } from '../document/document.ts';
import { importSpecifiers } from '../document/javascript/extract-script.ts';
import type { ModuleImports } from '../document/module-imports.ts';
import { isWanted, normalizeUrl, originUrl } from '../document/url-identity.ts';
import type { Fetcher } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';

const MAX_REDIRECTS = 5;

/**
 * Reads the imports of modules and caches them, because many pages load the same ones. Fetches only what the export may
 * fetch; a module that can't be fetched counts as one without imports.
 */
export function createModuleReader(
  fetcher: Pick<Fetcher, 'get'>,
  { site, external, keepHosts }: Pick<ExportSettings, 'site' | 'external' | 'keepHosts'>,
  signal: AbortSignal,
): ModuleImports {
  const known = new Map<string, Promise<readonly string[]>>();

  async function read(url: string): Promise<readonly string[]> {
    let current = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const policy = keepHosts.includes(new URL(current).hostname) ? 'keep' : external;
      if (!isWanted({ url: current, kind: 'asset' }, site, policy)) return [];
      const fetched = await fetcher.get(new URL(originUrl(current, site)), { signal });
      if (fetched.kind === 'response') {
        const { bytes, format } = readDocument({ bytes: fetched.body, contentType: fetched.contentType, url: current });
        return format === 'js' ? importSpecifiers(Buffer.from(bytes).toString('latin1')) : [];
      }
      const target = fetched.kind === 'redirect' ? normalizeUrl(fetched.location.href, site) : undefined;
      if (target === undefined) return [];
      current = target;
    }
    return [];
  }

  return (url) => {
    const reading = known.get(url) ?? read(url);
    known.set(url, reading);
    return reading;
  };
}
