import type { IncomingHttpHeaders } from 'node:http';
import { createTarget } from '../../../../activities/deployments/create-target.ts';
import { deploymentConfig, targetOf } from '../../../../contract/deployment-config.ts';
import { buildBundle } from '../../../deployment/bundles.ts';
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

describe('a bucket', () => {
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
