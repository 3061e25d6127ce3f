import { type ParsedTokenInfo, Tokenizer, TokenType } from '@streamparser/json';
import { HttpError } from '../../web/http-error.ts';

/**
 * Which parts of a JSON text to keep: some keys of an object, or of each object in a list. `true` keeps a scalar or a list
 * of scalars.
 */
export type Selection = true | { readonly [key: string]: Selection };

export type JsonSelector = {
  /** Takes the next bytes. Never throws. */
  write(chunk: Uint8Array): void;
  /** The selected parts. Throws HttpError 400 if the bytes weren't JSON in UTF-8. */
  end(): unknown;
};

/** No sender nests deeper. */
const MAX_DEPTH = 100;
/** Of a list of objects, only the first are kept: GitHub's pushes say nothing about their files beyond as many commits. */
const MAX_OBJECTS = 20;
/** Objects and lists, in total. */
const MAX_CONTAINERS = 1_000;
/** A longer text becomes null. */
const MAX_TEXT = 64 * 1024;
/** All lists of scalars together; one that doesn't fit becomes null. */
const MAX_LISTED = 1024 * 1024;
/** Counted for each scalar in a list, beside its length. */
const SCALAR_SIZE = 16;

/** `value` is undefined if the container isn't kept. `next` is what the grammar expects. */
type Frame = {
  isList: boolean;
  selection: Selection | undefined;
  value: unknown[] | Map<string, unknown> | undefined;
  key: string;
  next: 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end';
};

class NotJson extends Error {}

/** Reads JSON of any size as it arrives, and keeps only what is selected: a few megabytes at most. */
export function createJsonSelector(selection: Selection): JsonSelector {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const tokenizer = new Tokenizer({ stringBufferSize: MAX_TEXT, numberBufferSize: 64 });
  const selected = new Selected(selection);
  tokenizer.onToken = (token) => selected.add(token);
  let isBroken = false;

  function attempt(step: () => void): void {
    try {
      if (!isBroken) step();
    } catch {
      isBroken = true;
    }
  }

  return {
    write: (chunk) =>
      attempt(() => {
        utf8.decode(chunk, { stream: true });
        tokenizer.write(chunk);
      }),
    end() {
      attempt(() => {
        utf8.decode();
        // A number at the top ends only here.
        tokenizer.end();
        expectNext(selected.isWhole);
      });
      if (isBroken) throw new HttpError(400, 'expected JSON in UTF-8');
      return selected.value;
    },
  };
}

/** Checks the grammar of all tokens, and builds the selected part. */
class Selected {
  /** Holds the only value of the text. */
  readonly #root: Frame;
  readonly #stack: Frame[];
  #containers = 0;
  #listed = 0;

  constructor(selection: Selection) {
    this.#root = { isList: true, selection, value: [], key: '', next: 'value' };
    this.#stack = [this.#root];
  }

  get isWhole(): boolean {
    return this.#stack.length === 1 && this.#root.next === 'comma or end';
  }

  get value(): unknown {
    return Array.isArray(this.#root.value) ? plain(this.#root.value[0]) : undefined;
  }

  add({ token, value }: ParsedTokenInfo): void {
    const frame = this.#stack.at(-1) ?? this.#root;
    switch (token) {
      case TokenType.LEFT_BRACE:
      case TokenType.LEFT_BRACKET:
        this.#open(frame, token === TokenType.LEFT_BRACKET);
        return;
      case TokenType.RIGHT_BRACE:
      case TokenType.RIGHT_BRACKET:
        this.#close(frame, token === TokenType.RIGHT_BRACKET);
        return;
      case TokenType.COLON:
        expectNext(frame.next === 'colon');
        frame.next = 'value';
        return;
      case TokenType.COMMA:
        expectNext(frame.next === 'comma or end' && frame !== this.#root);
        frame.next = frame.isList ? 'value' : 'key';
        return;
      default:
        this.#addScalar(frame, value);
    }
  }

  #open(frame: Frame, isList: boolean): void {
    expectValue(frame);
    expectNext(this.#stack.length <= MAX_DEPTH);
    const inside = selectedIn(frame);
    const isKept = inside !== undefined && (isList || inside !== true) && this.#containers < MAX_CONTAINERS;
    if (isKept) this.#containers += 1;
    const value = isKept ? (isList ? [] : new Map<string, unknown>()) : undefined;
    put(frame, value ?? null);
    const next = isList ? 'value or end' : 'key or end';
    this.#stack.push({ isList, selection: isKept ? inside : undefined, value, key: '', next });
  }

  #close(frame: Frame, isList: boolean): void {
    expectNext(frame !== this.#root && frame.isList === isList && frame.next.endsWith('end'));
    this.#stack.pop();
  }

  #addScalar(frame: Frame, value: unknown): void {
    if (typeof value === 'string' && frame.next.startsWith('key')) {
      frame.key = value;
      frame.next = 'colon';
      return;
    }
    expectValue(frame);
    const length = typeof value === 'string' ? value.length : 0;
    const isListed = frame.isList && frame !== this.#root && frame.value !== undefined;
    if (isListed) this.#listed += length + SCALAR_SIZE;
    if (isListed && this.#listed > MAX_LISTED) {
      frame.value = undefined;
      replaceLast(this.#stack.at(-2) ?? this.#root, null);
    } else put(frame, length > MAX_TEXT ? null : value);
  }
}

function expectNext(isExpected: boolean): void {
  if (!isExpected) throw new NotJson();
}

function expectValue(frame: Frame): void {
  expectNext(frame.next === 'value' || frame.next === 'value or end');
  frame.next = 'comma or end';
}

/** The selection of the value that comes next in a container; undefined if it isn't kept. */
function selectedIn({ isList, selection, value, key }: Frame): Selection | undefined {
  if (value === undefined || selection === undefined) return undefined;
  if (isList) return selection !== true && Array.isArray(value) && value.length >= MAX_OBJECTS ? undefined : selection;
  return selection !== true && Object.hasOwn(selection, key) ? selection[key] : undefined;
}

function put(frame: Frame, value: unknown): void {
  if (selectedIn(frame) === undefined) return;
  if (Array.isArray(frame.value)) frame.value.push(value);
  else frame.value?.set(frame.key, value);
}

function replaceLast({ value: container, key }: Frame, value: unknown): void {
  if (Array.isArray(container)) container[container.length - 1] = value;
  else container?.set(key, value);
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map
    ? Object.fromEntries([...value].map(([key, each]: [string, unknown]) => [key, plain(each)]))
    : value;
}
