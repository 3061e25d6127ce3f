// tsc leaves files of older builds in dist/. The product lists some of its folders (the webhook sources, and the exporter's
// files for its version), so a stale file would count there.
import { rm } from 'node:fs/promises';

await rm(new URL('../dist/', import.meta.url), { recursive: true, force: true });
