import { describeExportedSites } from './sites/exported-sites.ts';

describeExportedSites([{ name: 'Next', generator: 'next', origin: { cleanUrls: true }, host: 'deployment' }]);
