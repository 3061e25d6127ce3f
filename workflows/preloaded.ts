import { z } from 'zod';
import * as agentState from '../contract/agent-state.ts';
import * as publishEvent from '../contract/publish-event.ts';
import * as pullRequestEvent from '../contract/pull-request-event.ts';
import * as settings from '../contract/settings.ts';
import * as siteAction from '../contract/site-action.ts';
import * as siteState from '../contract/site-state.ts';
import * as startGate from '../contract/start-gate.ts';

/**
 * What all workflows of a worker share: otherwise each has a copy of its own, which is more than half of its memory. The SDK
 * freezes it, so it must hold no state, and what zod keeps at the first use of a schema has to be there before.
 */
prepare([
  z.object({ text: z.string() }),
  agentState,
  publishEvent,
  pullRequestEvent,
  settings,
  siteAction,
  siteState,
  startGate,
]);

function prepare(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  const isSchema = value instanceof z.ZodType;
  if (isSchema) {
    value.safeParse(undefined);
    readAll(value);
    readAll(value._zod);
  }
  const shape = isSchema && 'shape' in value ? value.shape : null;
  for (const part of [shape, ...Object.values(isSchema ? value.def : value)]) prepare(part, seen);
}

/** What is computed or bound when it is first read. */
function readAll(object: object): void {
  for (let type: object | null = object; type !== null; type = Object.getPrototypeOf(type))
    for (const name of Object.getOwnPropertyNames(type)) Reflect.get(object, name);
}
