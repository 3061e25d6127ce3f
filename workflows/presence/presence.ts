import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { condition, setCurrentDetails, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow';

/** What the Temporal UI and searches are to know of a run, as it stands at the moment. */
export type PresenceSource = {
  /** The run's story in Markdown, shown beside it. */
  details: () => string;
  /** Null where they aren't usable: unknown attributes would fail the workflow task. */
  attributes: () => SearchAttributeUpdatePair[] | null;
  /** What searches find without search attributes; null while there is nothing to tell. */
  memo?: () => Record<string, string> | null;
};

export type Presence = {
  /** Keeps what is known in step with the run, for as long as the run lasts. */
  show: () => Promise<never>;
  /** The same for the last state, which nobody waits for. */
  update: () => void;
};

/** Tells Temporal only what has changed: each attribute and memo is an event of the run's history. */
export function createPresence({ details, attributes, memo = () => null }: PresenceSource): Presence {
  let shownDetails = '';
  let writtenAttributes = 'null';
  let writtenMemo = 'null';

  function update(): void {
    shownDetails = details();
    setCurrentDetails(shownDetails);
    const remark = memo();
    if (JSON.stringify(remark) !== writtenMemo) {
      writtenMemo = JSON.stringify(remark);
      if (remark !== null) upsertMemo(remark);
    }
    const pairs = attributes();
    if (JSON.stringify(pairs) !== writtenAttributes) {
      writtenAttributes = JSON.stringify(pairs);
      if (pairs !== null) upsertSearchAttributes(pairs);
    }
  }

  function isBehind(): boolean {
    return (
      details() !== shownDetails ||
      JSON.stringify(attributes()) !== writtenAttributes ||
      JSON.stringify(memo()) !== writtenMemo
    );
  }

  return {
    async show() {
      for (;;) {
        await condition(isBehind);
        update();
      }
    },
    update,
  };
}
