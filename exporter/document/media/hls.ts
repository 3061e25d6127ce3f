import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';

const LINE = /[^\r\n]+/g;
const TAG_URI = /URI="([^"]*)"/g;
const DEFINE = /^#EXT-X-DEFINE:.*\bNAME="([^"]*)".*\bVALUE="([^"]*)"/;
const VARIABLE = /\{\$([\w-]+)\}/g;

/** Reads a playlist of HLS (RFC 8216) or M3U: media, other playlists, keys and whatever else a tag names by `URI`. */
export function extractHls(playlist: SpannedText, collector: Collector): void {
  const variables = new Map<string, string>();
  const refer = (from: number, written: string): void => {
    const hasVariables = written.includes('{$');
    const decoded = hasVariables ? written.replace(VARIABLE, (all, name) => variables.get(name) ?? all) : undefined;
    collector.refer({ span: playlist, from, to: from + written.length, layers: '' }, 'asset', decoded);
  };

  for (const { 0: line, index } of playlist.text.matchAll(LINE)) {
    if (!line.startsWith('#')) {
      refer(index, line);
      continue;
    }
    if (!line.startsWith('#EXT')) continue;
    const [, name, value = ''] = DEFINE.exec(line) ?? [];
    if (name !== undefined) variables.set(name, value);
    for (const match of line.matchAll(TAG_URI)) refer(index + match.index + 'URI="'.length, match[1] ?? '');
  }
}
