import { gzipSync } from 'node:zlib';
import { packTar } from '../deployment/bundles.ts';
import { openFixture } from '../deployment/fixture.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { useSites } from './use-sites.ts';

const { startSite, closeLater } = useSites('dev-server');

const archiveOf = async (text: string): Promise<Buffer> =>
  gzipSync(await packTar([{ header: { name: './index.html', type: 'file' }, content: Buffer.from(text) }]));

/** Its links lead to bundles without a manifest, each with another signature. */
async function foreignSite() {
  const site = await startSite();
  const archives = new Map<string, Buffer>();
  const objects = await startHttpSite((request, response) => {
    const [, jobId = ''] = new URL(request.url ?? '', 'http://objects.test').pathname.split('/');
    response.end(archives.get(jobId));
  });
  closeLater({ close: objects.close, workflowIds: () => [] });
  let next: Buffer = Buffer.alloc(0);
  let links = 0;
  site.api.behaviour.intercept = ({ path }) => {
    const [, jobId] = /\/jobs\/([^/]+)\/bundle$/.exec(path) ?? [];
    if (jobId === undefined) return undefined;
    if (!archives.has(jobId)) archives.set(jobId, next);
    const bundleUrl = `${objects.origin}/${jobId}/bundle.tar.gz?signature=${++links}`;
    const expiresAt = new Date(Date.now() + 24 * 3_600_000).toISOString();
    return { status: 200, body: JSON.stringify({ bundleUrl, expiresAt }) };
  };
  return {
    site,
    async publish(archive: Buffer): Promise<void> {
      next = archive;
      await site.publish();
    },
  };
}

it('a bundle without a manifest stays with rollback: auto, and one that its deployment refuses is withdrawn', async () => {
  const { site, publish } = await foreignSite();
  const consumer = await openFixture();
  closeLater({ close: consumer.close, workflowIds: () => [] });
  const deployment = await consumer.start({ valuesFile: site.valuesFile });
  // Short, so that a version that can't be confirmed would be withdrawn soon.
  const settings = { statusUrl: `${deployment.url}/-/status`, confirmWithin: '1s', rollback: 'auto' };
  site.configure({ deployments: [{ valuesFile: site.valuesFile, ...settings }] });

  for (const edition of ['first', 'second']) {
    await publish(await archiveOf(edition));
    const live = await site.until(
      `served the ${edition}`,
      ({ phase, pendingCount, confirmed }) => phase === 'live' && pendingCount === 0 && confirmed === true,
    );
    expect(live).toMatchObject({ lastError: null, withheld: null, actions: [] });
    expect(await deployment.text('/')).toBe(edition);
  }

  await publish(Buffer.from('no archive'));
  const back = await site.until('withdrew it', ({ phase, withheld }) => phase === 'live' && withheld !== null);
  expect(back.lastError?.message).toMatch(/was not served \(.+\): rolled back to/);
  expect(back.actions).toMatchObject([{ actor: 'Galley', action: 'rollback', error: null }]);
  expect(await deployment.text('/')).toBe('second');
  await deployment.until('serves without an error', ({ lastError, stale }) => lastError === null && !stale);

  await publish(await archiveOf('fourth'));
  await site.until('served the fourth', ({ phase, withheld }) => phase === 'live' && withheld === null);
  expect(await deployment.text('/')).toBe('fourth');
  expect(await site.state()).toMatchObject({ lastError: null });
});
