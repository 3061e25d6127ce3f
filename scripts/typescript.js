// Lets plain Node import this project's TypeScript: `node --import ./scripts/typescript.js cli/main.ts …`.
// The tests need it for what jest doesn't transform: its global setup, worker threads and spawned commands.
import { register } from 'node:module';

register('./typescript-loader.js', import.meta.url);
