import { text } from 'node:stream/consumers';
import { structuredPatch } from 'diff';
import { Parser } from 'htmlparser2';
import { HttpError } from '../../../web/http-error.ts';
import { findOwnJob, requireCompleted, requireEnterprise } from '../../api/static-export/export-job-view.ts';
import type { PatchLine } from '../../forge/changes/parse-patch.ts';
import type { Change } from '../../forge/changes/read-changes.ts';
import { archiveEntries } from '../../objects/archive-entries.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { Caller } from '../../store/api-keys.ts';
import { findExportBefore } from '../../store/export-jobs.ts';
import type { DashboardContext } from '../dashboard-context.ts';

/** Longer files aren't compared: such a diff is too long to read, and slow to make. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_DIFF_MS = 2_000;

/** What changed in one file of the bundle since the project's export before, as text. Throws 404 and 413. */
export async function readPageDiff(
  { db, objects }: DashboardContext,
  caller: Caller,
  { jobId, path }: { jobId: unknown; path: string },
): Promise<Change> {
  requireEnterprise(caller);
  const job = await findOwnJob(db, caller, jobId);
  const { archiveKey } = requireCompleted(job);
  const before = await findExportBefore(db, job);
  if (before === undefined) throw new HttpError(404, 'There is no export before this one to compare with');
  const [then, now] = await Promise.all([
    readFile(objects, requireCompleted(before).archiveKey, path),
    readFile(objects, archiveKey, path),
  ]);
  if (then === undefined && now === undefined) throw new HttpError(404, 'Neither export has such a file');
  return compareTexts(path, then ?? '', now ?? '');
}

/** A file of a bundle as text; undefined if it has none. Reads the archive up to the file. */
async function readFile(
  objects: Pick<ObjectStore, 'get'>,
  archiveKey: string,
  path: string,
): Promise<string | undefined> {
  for await (const entry of archiveEntries(objects, archiveKey)) {
    if (entry.header.name === path) {
      if ((entry.header.size ?? 0) > MAX_FILE_BYTES) throw new HttpError(413, 'The file is too large to compare');
      return await text(entry);
    }
    entry.resume();
  }
  return undefined;
}

/** The difference of two files. Of HTML, it is that of the text that people read. */
function compareTexts(path: string, then: string, now: string): Change {
  const isHtml = /\.html?$/i.test(path);
  const [before, after] = isHtml ? [readableText(then), readableText(now)] : [then, now];
  const patch = structuredPatch(path, path, before, after, '', '', { context: 3, timeout: MAX_DIFF_MS });
  const hunks = (patch?.hunks ?? []).map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    header: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...{ oldStart, newStart },
    lines: lines.flatMap(patchLine),
  }));
  const count = (kind: string) => hunks.flatMap(({ lines }) => lines).filter((line) => line.kind === kind).length;
  return {
    ...{ path, previousPath: null, status: 'modified', oldMode: '100644', newMode: '100644' },
    additions: count('+'),
    deletions: count('-'),
    patch: { hunks },
  };
}

/** Anything else, such as the note on a missing line break, isn't a line of the file. */
function patchLine(line: string): PatchLine[] {
  const sign = line[0];
  const text = line.slice(1);
  return sign === '+' || sign === '-' || sign === ' ' ? [{ kind: sign, text, endsWithoutNewline: false }] : [];
}

const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt figcaption footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul title'.split(
    ' ',
  ),
);
const UNREAD = new Set(['script', 'style', 'template', 'noscript', 'svg']);

/** The text of a page, one line for each block. */
function readableText(html: string): string {
  const lines: string[] = [];
  let line = '';
  let unread = 0;
  const end = () => {
    const trimmed = line.replaceAll(/\s+/g, ' ').trim();
    if (trimmed !== '') lines.push(trimmed);
    line = '';
  };
  const parser = new Parser({
    onopentag(name) {
      if (UNREAD.has(name)) unread += 1;
      if (BLOCKS.has(name)) end();
    },
    onclosetag(name) {
      if (UNREAD.has(name)) unread -= 1;
      if (BLOCKS.has(name)) end();
    },
    ontext(part) {
      if (unread === 0) line += part;
    },
  });
  parser.end(html);
  end();
  return `${lines.join('\n')}\n`;
}
