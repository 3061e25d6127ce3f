// tsc leaves the files of older builds in dist/. Programs list some of its folders (the webhook sources, the exporter's files
// for its version), so a file that is no longer built would count there.
import { rm } from 'node:fs/promises';

await rm(new URL('../dist/', import.meta.url), { recursive: true, force: true });
