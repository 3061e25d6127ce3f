import { createReadSiteSettings } from '../../../activities/sites/read-site-settings.ts';
import { galleyConfig } from '../../../contract/galley-config.ts';

const config = galleyConfig.parse({
  adminApi: { url: 'https://api.example.com', key: 'galley_key_secret' },
  sites: {
    docs: {
      domain: 'docs.example.com',
      webhooks: { contentful: { secret: 'webhook_secret' } },
      export: { timeout: '2h', quietPeriod: '1s', refreshMargin: '30%', deployments: [{ valuesFile: 'a.yaml' }] },
    },
  },
});

const read = createReadSiteSettings({
  readSite: (site) => config.sites[site],
  minRefreshIntervalMs: 30_000,
  searchAttributes: true,
  build: 'abc',
});

describe('the settings of a site', () => {
  it('are its own section in milliseconds', async () => {
    expect(await read({ site: 'docs' })).toEqual({
      domain: 'docs.example.com',
      timeoutMs: 7_200_000,
      quietPeriodMs: 1_000,
      maxWaitMs: 60_000,
      whenBusy: 'queue',
      refreshMargin: 0.3,
      minRefreshIntervalMs: 30_000,
      valuesFiles: ['a.yaml'],
      searchAttributes: true,
      build: 'abc',
    });
  });

  it('hold no secret, because they enter the history', async () => {
    expect(JSON.stringify(await read({ site: 'docs' }))).not.toContain('secret');
  });

  it('are null where the site is not configured', async () => {
    expect(await read({ site: 'gone' })).toBeNull();
  });
});
