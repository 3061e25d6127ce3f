import type { FetchFailure } from './failure.ts';
import type { Validators } from './validators.ts';

export type FetchedResponse = {
  kind: 'response';
  status: number;
  contentType: string;
  body: Buffer;
  validators?: Validators;
  /** `X-Robots-Tag` forbids to follow the page's links. */
  nofollow?: boolean;
  /** What the headers say of a page, as elements of its head; left out where that is nothing. */
  headElements?: string;
  /** A browser made the body of what the origin answered. */
  rendered?: true;
};
/** A body too large to hold: the sink took it. */
export type FetchedToSink = { kind: 'sunk'; status: number; contentType: string; validators?: Validators };
export type FetchedRedirect = { kind: 'redirect'; status: number; location: URL };
/** What the caller has is still what the origin has. The validators are those of this answer, where it has any. */
export type FetchedUnchanged = { kind: 'unchanged'; validators: Validators };
export type FetchResult = FetchedResponse | FetchedToSink | FetchedRedirect | FetchedUnchanged | FetchFailure;
