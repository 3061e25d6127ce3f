import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import tar from 'tar-stream';
import { type BundleManifest, bundleManifest, contentDigestLine, MANIFEST_PATH } from '../../contract/bundle.ts';

export type Entry = { header: Partial<tar.Header> & { name: string }; content: Buffer };

export type BundleSpec = {
  files: Record<string, string | Buffer>;
  version?: string;
  jobId?: string;
  domain?: string;
  redirects?: BundleManifest['redirects'];
  basePath?: string;
  /** URLs of pages at the origin, by path. */
  urls?: Record<string, string>;
  contentTypes?: Record<string, string>;
  /** Twins of pages, by path. */
  twins?: Record<string, string>;
  createdAt?: string;
};

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The manifest of a valid bundle with these files. */
export function manifestOf(spec: BundleSpec): BundleManifest {
  const files = Object.entries(spec.files)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, content]) => ({
      path,
      size: Buffer.byteLength(content),
      sha256: sha256(content),
      contentType: spec.contentTypes?.[path] ?? TYPES[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
      ...(spec.urls?.[path] === undefined ? {} : { url: spec.urls[path] }),
      ...(spec.twins?.[path] === undefined ? {} : { markdown: spec.twins[path] }),
    }));
  return bundleManifest.parse({
    formatVersion: 1,
    jobId: spec.jobId ?? 'se_0123456789abcdef',
    domain: spec.domain ?? 'docs.example.com',
    version: spec.version ?? '1',
    createdAt: spec.createdAt ?? '2026-11-21T08:00:00Z',
    contentSha256: sha256(files.map(contentDigestLine).join('')),
    pageCount: files.filter(({ path }) => path.endsWith('.html')).length,
    ...(spec.basePath !== undefined && { basePath: spec.basePath }),
    files,
    redirects: spec.redirects ?? [],
  });
}

/** The entries of a valid bundle, which a test can corrupt. */
export function entriesOf(spec: BundleSpec, manifest: unknown = manifestOf(spec)): Entry[] {
  const all: [string, string | Buffer][] = [
    [MANIFEST_PATH, typeof manifest === 'string' ? manifest : JSON.stringify(manifest)],
    ...Object.entries(spec.files),
  ];
  return all.map(([name, content]) => ({ header: { name, type: 'file' }, content: Buffer.from(content) }));
}

/** Packs entries without checking them, so wrong headers stay wrong. */
export async function packTar(entries: readonly Entry[]): Promise<Buffer> {
  const pack = tar.pack();
  const chunks: Buffer[] = [];
  const reading = (async () => {
    for await (const chunk of pack) {
      if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
    }
  })();
  for (const { header, content } of entries) {
    await new Promise<void>((resolve, reject) => {
      pack.entry({ mtime: new Date(0), ...header }, content, (error) =>
        error instanceof Error ? reject(error) : resolve(),
      );
    });
  }
  pack.finalize();
  await reading;
  return Buffer.concat(chunks);
}

/** A `.tar.gz` of several gzip members that don't align with tar entries. */
export function gzipInMembers(bytes: Buffer): Buffer {
  const cuts = [0, 512, 1536, Math.floor(bytes.length / 2), bytes.length].filter((cut) => cut <= bytes.length);
  cuts.sort((a, b) => a - b);
  return Buffer.concat(cuts.slice(1).map((cut, index) => gzipSync(bytes.subarray(cuts[index], cut))));
}

export async function buildBundle(spec: BundleSpec): Promise<Buffer> {
  return gzipInMembers(await packTar(entriesOf(spec)));
}

/** A small site. Each page's title contains the version. */
export function siteOf(version: string, extra: Record<string, string | Buffer> = {}): BundleSpec {
  return {
    version,
    jobId: `se_${sha256(version).slice(0, 16)}`,
    files: {
      '404.html': `<title>not found ${version}</title>`,
      'guides/index.html': `<title>guides ${version}</title>`,
      'guides/start.html': `<title>start ${version}</title>`,
      'index.html': `<title>home ${version}</title>`,
      ...extra,
    },
  };
}
