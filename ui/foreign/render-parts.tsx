import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { Message } from '../components/message.tsx';
import { boundedFiles, type DiffFile, DiffFiles } from './diff-files.tsx';
import type { ForeignPart } from './foreign.tsx';
import { createMarkedTables } from './marked-table.tsx';
import { RenderedMarkdown } from './rendered-markdown.tsx';
import { compareTexts } from './text-diff.ts';

/** The HTML of foreign parts. It may take long: run it where it may be ended. */
export function renderParts(parts: readonly ForeignPart[]): string[] {
  const tableOf = createMarkedTables();
  const diff = (files: readonly DiffFile[]) => <DiffFiles files={files} tableOf={tableOf} />;

  function rendered(part: ForeignPart): VNode {
    if (part.kind === 'markdown') return <RenderedMarkdown>{part.text}</RenderedMarkdown>;
    if (part.kind === 'diff') return diff(part.files);
    const file = compareTexts(part);
    if (file.patch?.hunks.length !== 0) return diff(boundedFiles([file]));
    return <Message kind="info">The text is the same: only markup, scripts or links differ.</Message>;
  }

  return parts.map((part) => renderToString(rendered(part)));
}
