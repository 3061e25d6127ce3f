#!/usr/bin/env node
import { closeInheritedDescriptors } from '../base/close-inherited-descriptors.ts';
import { runCommandLine } from './run-command-line.ts';

const argv = process.argv.slice(2);
closeInheritedDescriptors(argv);
process.exitCode = await runCommandLine(argv);
// An open handle of a library must not keep a finished command alive.
process.exit();
