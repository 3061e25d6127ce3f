/**
 * Decoded text of a document, with the byte offset of each character.
 *
 * Documents are read as latin1, so that an index is a byte offset: markup, CSS and script syntax are ASCII, and only
 * URLs need decoding. `pieces` is null if text and bytes match one to one.
 */
export type SpannedText = { text: string; start: number; pieces: readonly Piece[] | null };

/** A run of text: verbatim bytes or one decoded entity. The last piece is empty and marks the end. */
type Piece = { textStart: number; rawStart: number; verbatim: boolean };

const NON_ASCII = /[\x80-\xff]/;

/** Decodes UTF-8 from a latin1 string. */
export function decodeBytes(text: string): string {
  return NON_ASCII.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
}

/** The reverse of `decodeBytes`. */
export function encodeBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A part of the document without decoding. */
export function verbatim(source: string, start: number, end: number): SpannedText {
  return { text: source.slice(start, end), start, pieces: null };
}

/**
 * The byte offset of a character. An index inside an entity gives the entity's start; the text's length gives its end.
 */
export function rawOffset(span: SpannedText, index: number): number {
  if (span.pieces === null) return span.start + index;
  const piece = pieceAt(span.pieces, index);
  if (piece === undefined) return span.start + index;
  return piece.verbatim ? piece.rawStart + index - piece.textStart : piece.rawStart;
}

/** Whether a character is the same in the text and in the bytes. */
export function isVerbatim(span: SpannedText, index: number): boolean {
  return span.pieces === null || pieceAt(span.pieces, index)?.verbatim === true;
}

function pieceAt(pieces: readonly Piece[], index: number): Piece | undefined {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pieces[middle]?.textStart ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return pieces[low];
}

const ENTITY = /&(?:#x?[0-9a-f]+|[a-z][a-z0-9]*);?|\0/iy;

/** The end of an entity or of a NUL byte, which stands for another character as well, or `start` if there is none (one entity may decode to two characters). */
function entityEnd(source: string, start: number): number {
  ENTITY.lastIndex = start;
  return start + (ENTITY.exec(source)?.[0].length ?? 0);
}

/** Collects the pieces of one text as a tokenizer reports them. */
export class SpanBuilder {
  private text = '';
  private pieces: Piece[] = [];
  private end = 0;
  private decoded = false;
  private highSurrogate = '';

  /** Resets the builder to a byte offset. */
  begin(rawStart: number): void {
    this.text = '';
    this.pieces = [];
    this.end = rawStart;
    this.decoded = false;
    this.highSurrogate = '';
  }

  data(source: string, start: number, end: number): void {
    if (start === end) return;
    this.pieces.push({ textStart: this.text.length, rawStart: start, verbatim: true });
    this.text += source.slice(start, end);
    this.end = end;
  }

  /**
   * Adds an entity at the end of the last piece, because the tokenizer reports no offset. It reports the halves of a
   * character beyond U+FFFF one after the other.
   */
  entity(source: string, codePoint: number): void {
    const character = this.highSurrogate + String.fromCodePoint(codePoint);
    this.highSurrogate = codePoint >= 0xd800 && codePoint < 0xdc00 ? character : '';
    if (this.highSurrogate !== '') return;
    const last = this.pieces.at(-1);
    if (last?.verbatim === false) this.end = entityEnd(source, last.rawStart);
    this.pieces.push({ textStart: this.text.length, rawStart: this.end, verbatim: false });
    this.text += encodeBytes(character);
    this.decoded = true;
  }

  finish(rawEnd: number): SpannedText {
    const start = this.pieces[0]?.rawStart ?? rawEnd;
    const contiguous = !this.decoded && start + this.text.length === rawEnd;
    // Markup that isn't text may follow the last piece (`]]>`). The end of an entity isn't known.
    const end = this.pieces.at(-1)?.verbatim === true ? this.end : rawEnd;
    this.pieces.push({ textStart: this.text.length, rawStart: end, verbatim: true });
    return { text: this.text, start, pieces: contiguous ? null : this.pieces };
  }
}
