import { boundedFiles, type DiffFile, DiffFiles, plainTable } from '../foreign/diff-files.tsx';
import { Foreign } from '../foreign/foreign.tsx';
import { Message } from './message.tsx';

/** Files with their changed lines, up to what a page may have. */
export function Diff({ files }: { files: readonly DiffFile[] }) {
  const shown = boundedFiles(files);
  return <Foreign part={{ kind: 'diff', files: shown }} plain={<DiffFiles files={shown} tableOf={plainTable} />} />;
}

/** What changed between two versions of a file; of HTML, in the text that people read. */
export function TextDiff(texts: { path: string; before: string; after: string }) {
  return (
    <Foreign
      part={{ kind: 'text-diff', ...texts }}
      plain={<Message kind="info">The two versions differ in too much to compare them here.</Message>}
    />
  );
}
