import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

/** Of two pictures, `different` has 1 for each pixel that differs. */
type Difference = { width: number; height: number; different: Uint8Array };

export type PictureComparison = {
  /** Of the pixels that aren't masked; 0 to 1. */
  differingShare: number;
  /** Pixels that differ between the visits to the origin, and those around them; 0 to 1. */
  maskedShare: number;
  /** The part of both pictures with the first differences, as PNG; undefined if there are none. */
  excerpt: { origin: Buffer; bundle: Buffer } | undefined;
};

const SAME: PictureComparison = { differingShare: 0, maskedShare: 0, excerpt: undefined };

/** What changes between visits changes in places near, too: all of a square with a difference is masked. */
const SQUARE = 16;
const EXCERPT_HEIGHT = 600;
const MARGIN = 40;

/** Compares pictures (PNG) of the same page; `again` is of a second visit to the origin. */
export function comparePictures(origin: Buffer, bundle: Buffer, again: Buffer | undefined): PictureComparison {
  if (origin.equals(bundle) || again?.equals(bundle)) return SAME;
  const [expected, found] = [PNG.sync.read(origin), PNG.sync.read(bundle)];
  const width = Math.max(expected.width, found.width);
  const height = Math.max(expected.height, found.height);
  const mask = new Uint8Array(width * height);
  if (again !== undefined) maskDifferences(mask, { width, height }, expected, PNG.sync.read(again));
  const { different } = difference(expected, found, { width, height }, mask);
  const masked = count(mask);
  const share = count(different) / Math.max(1, width * height - masked);
  const result = { differingShare: share, maskedShare: masked / (width * height) };
  return { ...result, excerpt: share === 0 ? undefined : excerptOf(expected, found, { width, height, different }) };
}

type Size = { width: number; height: number };

function difference(a: PNG, b: PNG, size: Size, mask: Uint8Array): Difference {
  const { width, height } = size;
  const marked = new Uint8Array(width * height * 4);
  const options = { diffMask: true, ignoreMask: mask };
  pixelmatch(enlarged(a, size), enlarged(b, size), marked, width, height, options);
  const different = new Uint8Array(width * height);
  for (let index = 0; index < different.length; index += 1) different[index] = marked[index * 4 + 3] === 0 ? 0 : 1;
  // What only one picture has.
  for (let y = Math.min(a.height, b.height); y < height; y += 1)
    for (let x = 0; x < width; x += 1) different[y * width + x] = mask[y * width + x] === 0 ? 1 : 0;
  return { ...size, different };
}

function enlarged(picture: PNG, { width, height }: Size): Uint8Array {
  if (picture.width === width && picture.height === height) return picture.data;
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < picture.height; y += 1) {
    const row = picture.data.subarray(y * picture.width * 4, (y + 1) * picture.width * 4);
    data.set(row, y * width * 4);
  }
  return data;
}

function maskDifferences(mask: Uint8Array, size: Size, origin: PNG, again: PNG): void {
  const own = { width: Math.max(size.width, again.width), height: Math.max(size.height, again.height) };
  const { different } = difference(origin, again, own, new Uint8Array(own.width * own.height));
  for (let top = 0; top < size.height; top += SQUARE) {
    for (let left = 0; left < size.width; left += SQUARE) {
      if (eachOf(left, top, size, (x, y) => different[y * own.width + x] === 1)) continue;
      eachOf(left, top, size, (x, y) => {
        mask[y * size.width + x] = 1;
        return false;
      });
    }
  }
}

/** Calls `test` for the pixels of a square until it is true; returns whether it never was. */
function eachOf(left: number, top: number, size: Size, test: (x: number, y: number) => boolean): boolean {
  for (let y = top; y < Math.min(top + SQUARE, size.height); y += 1)
    for (let x = left; x < Math.min(left + SQUARE, size.width); x += 1) if (test(x, y)) return false;
  return true;
}

function count(marks: Uint8Array): number {
  let total = 0;
  for (const mark of marks) total += mark;
  return total;
}

function excerptOf(origin: PNG, bundle: PNG, { width, height, different }: Difference) {
  const first = Math.floor(different.indexOf(1) / width);
  const top = Math.max(0, first - MARGIN);
  const size = { width, height: Math.min(EXCERPT_HEIGHT, height - top) };
  return { origin: cutOut(origin, top, size), bundle: cutOut(bundle, top, size) };
}

function cutOut(picture: PNG, top: number, { width, height }: Size): Buffer {
  const part = new PNG({ width, height });
  const rows = Math.max(0, Math.min(height, picture.height - top));
  if (rows > 0) PNG.bitblt(picture, part, 0, top, Math.min(width, picture.width), rows, 0, 0);
  return PNG.sync.write(part);
}
