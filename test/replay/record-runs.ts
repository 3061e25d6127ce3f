import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { type FetchedRun, runsOf, stepsOf } from '../helpers/replay.ts';

/**
 * `RECORD_HISTORIES=yes npm run test:integration -- test/workflows test/platform/workflows` keeps a history below
 * test/replay/ if it has a step that no kept one has. docs/development.md says when to record them again.
 */
const isRecording = process.env.RECORD_HISTORIES !== undefined;

/** The id of every recorded workflow. Ids of its children begin with it. */
export const REPLAYED_ID = 'replayed';

/** Long histories repeat the steps of short ones. */
const MAX_EVENTS = 300;

/** Keeps what is new of the runs that a test file caused, named after the file. */
export async function recordRuns(runs: readonly FetchedRun[]): Promise<void> {
  if (!isRecording) return;
  const by = basename(expect.getState().testPath ?? '').split('.')[0] ?? '';
  for (const { workflowId, history, length } of runs.toSorted((a, b) => b.length - a.length)) {
    if (length > MAX_EVENTS) continue;
    // One line, and the stacks of failures name no folder of this machine.
    const text = JSON.stringify(JSON.parse(historyToJSON(history)))
      .replaceAll(`${process.cwd()}/`, '')
      .replaceAll(workflowId, REPLAYED_ID);
    const { type, pairs } = pairsOf(text);
    const workflow = type.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const folder = join('test/replay', workflow);
    // Of a broken worker, or of a workflow that only a test has.
    if (text.includes('WORKFLOW_TASK_FAILED') || !existsSync(folder)) continue;
    const kept = readdirSync(folder).filter((name) => name.endsWith('.json'));
    const known = new Set(kept.flatMap((name) => pairsOf(readFileSync(join(folder, name), 'utf8')).pairs));
    if (pairs.every((pair) => known.has(pair))) continue;
    const subject = by.startsWith(`${workflow}-`) ? by.slice(workflow.length + 1) : by;
    const number = kept.filter((name) => name.startsWith(`${subject}-`)).length + 1;
    await writeFile(join(folder, `${subject}-${number}.json`), `${text}\n`, { flag: 'wx' });
  }
}

/** The same for all workflows of a namespace. */
export async function recordNamespace(client: Client): Promise<void> {
  if (!isRecording) return;
  for await (const { workflowId } of client.workflow.list()) await recordRuns(await runsOf(client, workflowId));
}

/** A workflow's type, and each step of its run with the one before. */
function pairsOf(history: string): { type: string; pairs: string[] } {
  const { type, steps: all } = stepsOf(JSON.parse(history));
  // When the worker takes its turns depends on the machine.
  const steps = all.filter((step) => !/WORKFLOW_TASK|TASK_STARTED/.test(step));
  return { type, pairs: steps.map((step, index) => `${steps[index - 1]} ${step}`) };
}
