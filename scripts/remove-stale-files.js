// tsc leaves the files of older builds in dist/. The registry of webhook sources lists its folder, so a file that is no
// source any more would stop every program.
import { rm } from 'node:fs/promises';

await rm(new URL('../dist/api/sources/', import.meta.url), { recursive: true, force: true });
