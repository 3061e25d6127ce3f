import type { SiteState } from '../../contract/site-state.ts';
import type { SecondKind } from './choose.ts';

/** What is recorded of a round, for the judge. Times are milliseconds since the round's start. */
export type History = {
  places: readonly PlaceSetup[];
  /** When the origin got each edition: the edition's number is the index. Edition 0 was there before the round. */
  edits: Readonly<Record<string, readonly number[]>>;
  publishes: readonly Publish[];
  commands: readonly Command[];
  faults: readonly Fault[];
  /** What visitors saw, in order of time. */
  views: readonly View[];
  ending: Ending;
};

/** A deployment of a site. */
export type PlaceSetup = {
  name: string;
  site: string;
  kind: 'valuesFile' | SecondKind;
  /** What a person does with each version before it is there. */
  awaits: 'approve' | 'merge' | null;
  /** It gets a version after the deployments of earlier waves serve it. */
  wave: number;
};

/** One delivery of the CMS, which resends it until it is accepted. */
export type Publish = {
  site: string;
  edition: number;
  sentMs: number;
  /** When the receiver responded with 202; null if never. */
  acceptedMs: number | null;
  /** The id in that response. */
  deliveryId: string | null;
  sends: number;
};

export type Action =
  | 'export'
  | 'refresh'
  | 'pause'
  | 'resume'
  | 'lock'
  | 'unlock'
  | 'rollback'
  | 'approve'
  | 'reject'
  | 'pin'
  | 'unpin'
  | 'merge';

export type Command = {
  site: string;
  action: Action;
  /** Of a pin or a merge. */
  place: string | null;
  /** The edition that a rollback or a pin asks for. */
  edition: number | null;
  sentMs: number;
  /** Null if there was no response, so that nobody knows whether it took effect. */
  answeredMs: number | null;
  status: number | null;
};

/** From before it began to after it was over. */
export type Fault = { victim: string; kind: string; fromMs: number; untilMs: number };

/** One or several equal responses to visitors of a place, from the first request to the last response. */
export type View = {
  place: string;
  fromMs: number;
  untilMs: number;
  /** When the first response was complete. */
  seenMs: number;
  /** When the last one was asked for. */
  lastFromMs: number;
  /** The status of the response; `refused`: nothing listens. */
  status: number | 'refused';
  /** What the place says that it serves, if it said the same before and after; null if unknown. */
  jobId: string | null;
  version: string | null;
  pages: readonly SeenPage[];
};

/** `isWhole`: from the beginning of the page's text to its end. */
export type SeenPage = { path: string; site: string; edition: number; isWhole: boolean };

export type Ending = {
  atMs: number;
  /** What was still unsettled when the time was over. */
  unsettled: readonly string[];
  /** It was still changing: perhaps the machine is too busy, so that nobody can say whether it is stuck. */
  isMoving: boolean;
  /** What was left behind, such as a secret in a log. */
  leftovers: readonly string[];
  sites: Readonly<Record<string, { state: SiteState; completedJobs: readonly string[]; now: string }>>;
};
