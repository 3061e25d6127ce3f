import fs from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** The parts of Emscripten's file system on Node's files that are extended here. */
type NodeFiles = {
  realPath(node: unknown): string;
  /** Turns an error of Node into one that PostgreSQL understands. */
  tryFSOperation(run: () => void): void;
  stream_ops: { fsync?: (stream: { nfd?: number; node: unknown }) => number };
};

/**
 * Opens the database in `dataDir` so that committed data survives a power loss. PGlite runs PostgreSQL with fsync off,
 * and its files ignore a sync; here PostgreSQL syncs to the disk at each commit and checkpoint.
 */
export async function openSyncedDatabase(dataDir: string): Promise<PGlite> {
  const withoutSync = PGlite.defaultStartParams.indexOf('-F');
  return await PGlite.create({
    fs: new SyncedFiles(dataDir),
    startParams: [
      ...PGlite.defaultStartParams.filter((_, index) => index !== withoutSync),
      // The default, fdatasync, does nothing in Emscripten.
      ...['-c', 'wal_sync_method=fsync'],
    ],
  });
}

class SyncedFiles extends NodeFS {
  override async init(...given: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...given);
    const addSync = (module: { FS: { filesystems: unknown } }) => {
      const { NODEFS } = module.FS.filesystems as { NODEFS: NodeFiles };
      NODEFS.stream_ops.fsync = ({ nfd, node }) => {
        NODEFS.tryFSOperation(() => (nfd === undefined ? syncFolder(NODEFS.realPath(node)) : fs.fsyncSync(nfd)));
        return 0;
      };
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addSync] } };
  }
}

/** A folder has no descriptor there. Windows can't sync one. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
