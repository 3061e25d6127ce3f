import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  patched,
  setHandler,
} from '@temporalio/workflow';
import { BASELINE, QUERIES, SIGNALS, WORKFLOW_IDS } from '../contract/names.ts';
import {
  type StartOutcome,
  type StartPlace,
  type StartRequest,
  startOutcome,
  startRequest,
} from '../contract/start-gate.ts';
import { isHistoryLong } from './entity/continue-as-new.ts';
import { handleSignal, waitAtMost } from './entity/coroutines.ts';
import { addRequest, endStart, gateState, newGate, nextStartMs, placesOf, takeStart } from './start-gate/queue.ts';

const requested = defineSignal<[StartRequest]>(SIGNALS.requested);
const ended = defineSignal<[StartOutcome]>(SIGNALS.ended);
const queue = defineQuery<Record<string, StartPlace>>(QUERIES.queue);

/**
 * Hands out the starts that the Admin API allows the organization per hour, to the site that waits longest. There is one per
 * namespace; the first site that has to wait starts it. It never ends.
 * @param carry the previous run's state
 */
export async function startGate({ carry }: { carry?: unknown } = {}): Promise<void> {
  patched(BASELINE);
  const gate = carry === undefined ? newGate() : gateState.parse(carry);
  let changes = 0;
  handleSignal(requested, startRequest, 'A site waits for a start.', (request) => {
    addRequest(gate, request);
    changes += 1;
  });
  handleSignal(ended, startOutcome, 'What became of a start.', (outcome) => {
    endStart(gate, outcome, Date.now());
    changes += 1;
  });
  setHandler(queue, () => placesOf(gate, Date.now()), { description: 'The place of each site that waits.' });

  while (!isHistoryLong()) {
    const seen = changes;
    const next = takeStart(gate, Date.now());
    if (next !== undefined) await grant(next.site);
    else if (gate.waiting.length === 0) await condition(() => changes !== seen);
    else {
      const waitMs = nextStartMs(gate, Date.now()) - Date.now();
      await waitAtMost(() => changes !== seen, waitMs, `next start, ${gate.waiting.length} sites wait`);
    }
  }
  await continueAsNew<typeof startGate>({ carry: gateState.parse(gate) });
}

/** A site that has ended meanwhile doesn't get it. The start counts, which is the safe side. */
async function grant(site: string): Promise<void> {
  await getExternalWorkflowHandle(WORKFLOW_IDS.exportSite(site))
    .signal(SIGNALS.startGranted)
    .catch(() => undefined);
}
