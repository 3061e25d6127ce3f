import type { ExportSettings } from '../../../exporter/settings.ts';

/** Of a site without rules of its own. */
export const exportSettings: ExportSettings = {
  jobId: 'se_0000000000000000',
  version: '1',
  createdAt: '2026-01-01T00:00:00Z',
  site: { domain: 'docs.example.com', origin: 'https://docs.example.com' },
  operatorHosts: [],
  external: 'bundle',
  keepHosts: [],
  scripts: 'auto',
  sourceMaps: 'omit',
  robots: 'respect',
  render: 'http',
  discover: 'http',
  precompress: [],
  search: 'off',
  pages: null,
  robotsTxt: '',
};
