import { sources } from '../../../api/webhooks/registry.ts';
import type { Vendor } from './vendor.ts';

type NamedVendor = Vendor & { source: string };

/** The vendor of every source, from the file of the same name in vendors/. */
export const vendors: readonly NamedVendor[] = await loadVendors();

export function vendorOf(source: string): Vendor {
  const found = vendors.find((each) => each.source === source);
  if (found === undefined) throw new Error(`There is no vendor ${source}`);
  return found;
}

async function loadVendors(): Promise<NamedVendor[]> {
  const loaded: NamedVendor[] = [];
  for (const source of sources.keys()) {
    const { vendor }: { vendor: Vendor } = await import(new URL(`./vendors/${source}.ts`, import.meta.url).href);
    loaded.push({ source, ...vendor });
  }
  return loaded;
}
