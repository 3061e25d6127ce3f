import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';
import { formOf } from '../values.ts';

/** The only line of a cue: players of thumbnails and chapters expect the URL of an image there. */
const CUE = /-->[^\r\n]*(?:\r\n|\r|\n)([^\s][^\r\n]*)(?=(?:\r\n|\r|\n){2}|(?:\r\n|\r|\n)?$)/g;

/** Reads a WebVTT file. A cue that looks like the URL of a file is resolved against the WebVTT file, as players do. */
export function extractWebVtt(vtt: SpannedText, collector: Collector): void {
  for (const { 0: whole, 1: cue = '', index } of vtt.text.matchAll(CUE)) {
    const form = formOf(cue.trim());
    if (form === undefined || form === 'plain') continue;
    const from = index + whole.length - cue.length;
    collector.refer({ span: vtt, from, to: from + cue.length, layers: '' }, 'guess');
  }
}
