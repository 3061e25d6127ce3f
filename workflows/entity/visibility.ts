import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { condition, setCurrentDetails, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow';

/** What the Temporal UI and searches show of a run. */
type VisibilitySource = {
  /** Markdown that the UI shows beside the run. */
  details: () => string;
  /** Null if the cluster doesn't know the attributes: unknown ones fail the workflow task. */
  attributes: () => SearchAttributeUpdatePair[] | null;
  /** The memo, for searches without search attributes; null while it is empty. */
  memo?: () => Record<string, unknown> | null;
};

export type Visibility = {
  /** Updates whenever something has changed, for as long as the run lasts. */
  watch: () => Promise<never>;
  /** Updates once. */
  update: () => void;
};

/** Writes only what has changed: each upsert is an event in the history. */
export function createVisibility({ details, attributes, memo = () => null }: VisibilitySource): Visibility {
  let writtenDetails = '';
  let writtenAttributes = 'null';
  let writtenMemo = 'null';

  function update(): void {
    writtenDetails = details();
    setCurrentDetails(writtenDetails);
    const fields = memo();
    if (JSON.stringify(fields) !== writtenMemo) {
      writtenMemo = JSON.stringify(fields);
      if (fields !== null) upsertMemo(fields);
    }
    const pairs = attributes();
    if (JSON.stringify(pairs) !== writtenAttributes) {
      writtenAttributes = JSON.stringify(pairs);
      if (pairs !== null) upsertSearchAttributes(pairs);
    }
  }

  function isBehind(): boolean {
    return (
      details() !== writtenDetails ||
      JSON.stringify(attributes()) !== writtenAttributes ||
      JSON.stringify(memo()) !== writtenMemo
    );
  }

  return {
    async watch() {
      for (;;) {
        await condition(isBehind);
        update();
      }
    },
    update,
  };
}
