import { createReadSiteSettings } from '../../../activities/sites/read-site-settings.ts';
import { galleyConfig } from '../../../programs/config/galley-yaml.ts';

const config = galleyConfig.parse({
  adminApi: { url: 'https://api.example.com', key: 'galley_key_secret' },
  sites: {
    docs: {
      domain: 'docs.example.com',
      webhooks: { contentful: { secret: 'webhook_secret' } },
      export: {
        timeout: '2h',
        quietPeriod: '1s',
        refreshMargin: '30%',
        deployments: [{ valuesFile: 'a.yaml' }, { valuesFile: 'strict.yaml', integrity: false }],
      },
    },
  },
});

const read = createReadSiteSettings({
  readSite: (site) => config.sites[site],
  minRefreshIntervalMs: 30_000,
  operators: ['ops@example.com'],
  mail: true,
  notify: [],
  searchAttributes: true,
});

describe('the settings of a site', () => {
  it("are the site's section with times in milliseconds", async () => {
    expect(await read({ site: 'docs' })).toEqual({
      domain: 'docs.example.com',
      timeoutMs: 7_200_000,
      quietPeriodMs: 1_000,
      maxWaitMs: 60_000,
      whenBusy: 'queue',
      refreshMargin: 0.3,
      minRefreshIntervalMs: 30_000,
      deployments: [
        {
          ...{ place: 'a.yaml', name: 'a.yaml', kind: 'valuesFile', host: null },
          ...{ wave: 1, approve: false, url: null, confirm: null },
        },
        {
          ...{ place: 'strict.yaml', name: 'strict.yaml', kind: 'valuesFile', host: null },
          ...{ wave: 1, approve: false, integrity: false, url: null, confirm: null },
        },
      ],
      operators: ['ops@example.com'],
      tellAfterMs: 600_000,
      notify: [],
      searchAttributes: true,
    });
  });

  it('contain no secret, because they are stored in the history', async () => {
    expect(JSON.stringify(await read({ site: 'docs' }))).not.toContain('secret');
  });

  it('of an unknown site are a failure that another worker can retry', async () => {
    await expect(read({ site: 'gone' })).rejects.toMatchObject({
      type: 'NotConfigured',
      nonRetryable: false,
      message: expect.stringContaining('the site gone is not configured on the worker that was asked'),
      details: [{ operators: ['ops@example.com'] }],
    });
  });
});
