import { lockFolder } from '../../embedded/folder-lock.ts';

// A process that folder-lock.test.ts starts and kills.
const [lockFile, folder] = process.argv.slice(2);
if (lockFile === undefined || folder === undefined) throw new Error('expected the lock file and the folder');
await lockFolder(lockFile, folder);
process.stdout.write('locked\n');
setInterval(() => undefined, 60_000);
