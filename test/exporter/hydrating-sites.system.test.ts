import { describeExportedSites } from './sites/exported-sites.ts';

const CLEAN_URLS = { cleanUrls: true };
const FOLDERS = { redirectFolders: true };
describeExportedSites([
  { name: 'VitePress with clean URLs', generator: 'vitepress', origin: CLEAN_URLS, host: 'plain', visited: true },
  { name: 'VitePress with .html URLs and a metadata chunk', generator: 'vitepress', origin: {}, host: 'plain' },
  { name: 'Astro with Starlight', generator: 'starlight', origin: FOLDERS, host: 'deployment', visited: true },
  { name: 'Docusaurus', generator: 'docusaurus', origin: FOLDERS, host: 'deployment' },
]);
