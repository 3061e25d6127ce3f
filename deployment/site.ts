import type { BundleFile, BundleManifest, BundleRedirect } from '../contract/bundle.ts';

/** One unpacked version, ready to be served. A request holds it from its first to its last byte. */
export type Site = {
  manifest: BundleManifest;
  /** SHA-256 of the archive it came from; names the version on the disk. */
  archiveSha256: string;
  /** The folder with the site's files. */
  root: string;
  file(path: string): BundleFile | undefined;
  /** The page whose address at the origin this is, where its path in the bundle is another. */
  page(url: string): BundleFile | undefined;
  redirect(from: string): BundleRedirect | undefined;
  /** Keeps the folder until the returned function is called. */
  hold(): () => void;
  /** Resolves when nobody holds it. */
  idle(): Promise<void>;
};

export function createSite(root: string, archiveSha256: string, manifest: BundleManifest): Site {
  const files = new Map(manifest.files.map((file) => [file.path, file]));
  const pages = new Map(manifest.files.map((file) => [file.url, file]));
  const redirects = new Map(manifest.redirects.map((redirect) => [redirect.from, redirect]));
  let holders = 0;
  let waiting: (() => void)[] = [];

  return {
    manifest,
    archiveSha256,
    root,
    file: (path) => files.get(path),
    page: (url) => pages.get(url),
    redirect: (from) => redirects.get(from),
    hold() {
      holders += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        holders -= 1;
        if (holders > 0) return;
        for (const resume of waiting) resume();
        waiting = [];
      };
    },
    async idle() {
      while (holders > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
