#!/usr/bin/env node
import { runCommandLine } from './run-command-line.ts';

process.exitCode = await runCommandLine(process.argv.slice(2));
// An open handle of a library must not keep a finished command alive.
process.exit();
