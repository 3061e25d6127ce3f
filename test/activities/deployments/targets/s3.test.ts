import type { IncomingHttpHeaders } from 'node:http';
import { createTarget } from '../../../../activities/deployments/create-target.ts';
import { deploymentConfig, targetOf } from '../../../../contract/deployment-config.ts';
import { type BundleSpec, buildBundle } from '../../../deployment/bundles.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { deploymentWrite } from '../deployment-write.ts';

// What goes over the wire: the S3 server of the system tests keeps no redirects.

/** An empty bucket that stores nothing, and the headers of the objects that it got. */
async function startRecorder() {
  const stored = new Map<string, IncomingHttpHeaders>();
  const site = await startHttpSite((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3.test');
    if (request.method === 'PUT') stored.set(pathname, request.headers);
    request.resume();
    if (searchParams.has('list-type')) response.end('<ListBucketResult></ListBucketResult>');
    else if (request.method === 'GET') response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    else request.on('end', () => response.end());
  });
  return { ...site, stored };
}

/** Writes the bundle to a bucket, and returns the recorder's objects by key. */
async function deployTo(endpoint: string, spec: BundleSpec): Promise<void> {
  const bundle = await buildBundle(spec);
  const bundles = await startHttpSite((_, response) => response.end(bundle));
  try {
    const url = `s3://docs?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`;
    const settings = targetOf(deploymentConfig.parse({ s3: { url, accessKeyId: 'id', secretAccessKey: 'secret' } }));
    const write = deploymentWrite({ bundleUrl: `${bundles.origin}/bundle.tar.gz` });
    const { signal } = new AbortController();
    const report = await createTarget('s3', settings).write(write, { site: 'docs', signal });
    expect(report).toMatchObject({ outcome: 'written' });
  } finally {
    await bundles.close();
  }
}

describe('a bucket', () => {
  it('gets a copy of each file at its URL, because it rewrites none', async () => {
    const s3 = await startRecorder();
    try {
      await deployTo(s3.origin, {
        files: {
          ...{ 'feed/index.xml': '<rss/>', 'LICENSE.txt': 'MIT', 'guides/start.html': 'start' },
          ...{ 'guides.html': 'guides', 'style.5de144d3edb3.css': 'v2', 'a.1.html': '1', 'a.2.html': '2' },
        },
        urls: {
          ...{ 'feed/index.xml': '/feed/', 'LICENSE.txt': '/LICENSE', 'guides/start.html': '/guides/start' },
          ...{ 'guides.html': '/guides', 'style.5de144d3edb3.css': '/style.css?v=2' },
          ...{ 'a.1.html': '/a?1', 'a.2.html': '/a?2' },
        },
        contentTypes: { 'feed/index.xml': 'application/rss+xml' },
        redirects: [{ from: '/old.pdf', to: '/LICENSE', status: 301 }],
      });
      const typeOf = (key: string) => s3.stored.get(`/docs/${key}`)?.['content-type'];
      expect(typeOf('feed/index.html')).toBe('application/rss+xml');
      expect(typeOf('LICENSE')).toBe('text/plain; charset=utf-8');
      expect(typeOf('guides/start')).toBe('text/html; charset=utf-8');
      expect(typeOf('style.css')).toBe('text/css; charset=utf-8');
      // Each of the two could be meant.
      expect(typeOf('a')).toBeUndefined();
      const redirectOf = (key: string) => s3.stored.get(`/docs/${key}`)?.['x-amz-website-redirect-location'];
      // This server may have no object beside a folder of its name.
      expect([typeOf('guides'), redirectOf('guides/index.html')]).toEqual([undefined, '/guides.html']);
      expect(redirectOf('old.pdf')).toBe('/LICENSE');
    } finally {
      await s3.close();
    }
  });

  it('gets objects with redirects and Cache-Control, from the keys of its own target', async () => {
    const bundle = await buildBundle({
      files: { 'guides/start.html': 'start', 'assets/app-0f1e2d3c.js': 'app' },
      redirects: [{ from: '/old/start', to: '/guides/start', status: 301 }],
    });
    const [bundles, s3] = [await startHttpSite((_, response) => response.end(bundle)), await startRecorder()];
    try {
      for (const name of ['docs', 'blog']) {
        const url = `s3://${name}?endpoint=${encodeURIComponent(s3.origin)}&region=us-east-1`;
        const keys = { accessKeyId: `key-of-${name}`, secretAccessKey: `secret-of-${name}` };
        const settings = targetOf(deploymentConfig.parse({ s3: { url, ...keys } }));
        const target = createTarget('s3', settings);
        const written = target.write(deploymentWrite({ bundleUrl: `${bundles.origin}/bundle.tar.gz` }), {
          site: 'docs',
          signal: new AbortController().signal,
        });
        expect(await written).toMatchObject({ outcome: 'written' });
        for (const [path, { authorization }] of s3.stored) {
          if (path.startsWith(`/${name}/`)) expect(authorization).toContain(`Credential=key-of-${name}/`);
        }
      }
      const { stored } = s3;
      expect(stored.get('/docs/old/start')).toMatchObject({ 'x-amz-website-redirect-location': '/guides/start' });
      expect(stored.get('/docs/guides/start.html')).toMatchObject({ 'cache-control': 'no-cache' });
      expect(stored.get('/docs/assets/app-0f1e2d3c.js')).toMatchObject({
        'cache-control': 'max-age=604800, immutable',
        'content-type': expect.stringContaining('javascript'),
      });
      expect(stored.has('/blog/guides/start.html')).toBe(true);
    } finally {
      await Promise.all([bundles.close(), s3.close()]);
    }
  });
});
