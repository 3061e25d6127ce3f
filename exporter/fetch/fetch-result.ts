import type { FetchFailure } from './failure.ts';
import type { Validators } from './validators.ts';

export type FetchedResponse = {
  kind: 'response';
  status: number;
  contentType: string;
  body: Buffer;
  validators?: Validators;
  /** `X-Robots-Tag` forbids following the page's links. */
  nofollow?: boolean;
  /** The headers that matter to a page, as elements of its head; omitted if there are none. */
  headElements?: string;
  /** A browser rendered the body from the origin's response. */
  rendered?: true;
};
/** A body too large to hold: the sink took it. */
export type FetchedToSink = { kind: 'sunk'; status: number; contentType: string; validators?: Validators };
export type FetchedRedirect = { kind: 'redirect'; status: number; location: URL };
/** The caller's copy is current. The validators are those of this response, if it has any. */
export type FetchedUnchanged = { kind: 'unchanged'; validators: Validators };
export type FetchResult = FetchedResponse | FetchedToSink | FetchedRedirect | FetchedUnchanged | FetchFailure;
