import { readFileSync } from 'node:fs';
import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import { SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from '../../contract/names.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';

/** The queries of the page, by their question. */
const queries = [...readFileSync('docs/operate/queries.md', 'utf8').matchAll(/^\| ([^|]+) \| `([^`]+)` \|$/gm)].map(
  ([, question = '', query = '']) => [question, query] as const,
);

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const expiresAt = defineSearchAttributeKey(SEARCH_ATTRIBUTES.linkExpiresAt, SearchAttributeType.DATETIME);

type Attributes = { phase?: string; version?: string; pullRequest?: string; linkExpiresAt?: string };

/** Starts workflows with the product's search attributes, without a worker. */
const WORKFLOWS: readonly [type: string, id: string, Attributes][] = [
  [
    WORKFLOW_TYPES.exportSite,
    'export:docs',
    { phase: 'live', version: '2026-11-21.3', linkExpiresAt: '2026-11-22T00:00:00Z' },
  ],
  [
    WORKFLOW_TYPES.exportSite,
    'export:expiring',
    { phase: 'live', version: 'v1', linkExpiresAt: '2026-11-21T12:59:00Z' },
  ],
  [WORKFLOW_TYPES.exportSite, 'export:failing', { phase: 'failed', version: 'v1' }],
  [WORKFLOW_TYPES.exportSite, 'export:pinned', { phase: 'held', version: 'v1' }],
  [WORKFLOW_TYPES.exportSite, 'export:unknown', { phase: 'unconfigured', version: 'v1' }],
  [WORKFLOW_TYPES.exportSite, 'export:paused', { phase: 'paused', version: 'v1' }],
  [WORKFLOW_TYPES.exportSite, 'export:new', { phase: 'idle' }],
  [WORKFLOW_TYPES.agentRule, 'agent-rule:unknown:changelog', { phase: 'unconfigured' }],
  [
    WORKFLOW_TYPES.agentChange,
    'agent:docs:changelog:d1',
    { phase: 'in-review', pullRequest: 'https://github.com/acme/docs/pull/7' },
  ],
  [WORKFLOW_TYPES.agentChange, 'agent:failing:changelog:d2', { phase: 'failed' }],
];

/** The expected results of each query, in the page's order. */
const FOUND: readonly string[][] = [
  ['export:expiring'],
  ['export:failing'],
  ['export:pinned'],
  ['agent-rule:unknown:changelog', 'export:unknown'],
  ['export:paused'],
  ['export:new'],
  ['export:docs'],
  ['agent:docs:changelog:d1'],
  ['agent:docs:changelog:d1'],
  ['agent:failing:changelog:d2'],
  ['agent:docs:changelog:d1', 'export:docs'],
];

let temporal: TestTemporal;

beforeAll(async () => {
  temporal = await connectTemporal();
  for (const [type, workflowId, attributes] of WORKFLOWS) {
    await temporal.client.workflow.start(type, {
      workflowId,
      taskQueue: 'without-a-worker',
      args: [],
      typedSearchAttributes: pairsOf(workflowId.split(':')[1] ?? '', attributes),
    });
  }
});

afterAll(() => temporal.stop());

function pairsOf(site: string, { phase, version, pullRequest, linkExpiresAt }: Attributes): SearchAttributePair[] {
  const { site: siteName, phase: phaseName, version: versionName, pullRequest: pullRequestName } = SEARCH_ATTRIBUTES;
  return [
    { key: keyword(siteName), value: site },
    ...(phase === undefined ? [] : [{ key: keyword(phaseName), value: phase }]),
    ...(version === undefined ? [] : [{ key: keyword(versionName), value: version }]),
    ...(pullRequest === undefined ? [] : [{ key: keyword(pullRequestName), value: pullRequest }]),
    ...(linkExpiresAt === undefined ? [] : [{ key: expiresAt, value: new Date(linkExpiresAt) }]),
  ];
}

async function find(query: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { workflowId } of temporal.client.workflow.list({ query })) found.push(workflowId);
  return found.sort();
}

test('each query of the page finds what its question asks', async () => {
  const all = async () => (await find('')).length === WORKFLOWS.length;
  await waitFor(all, { describe: 'listed every workflow' });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const found = await Promise.all(
    // The changes have just been started.
    queries.map(([, query]) => find(query.replace(/StartTime < "[^"]+"/, `StartTime < "${tomorrow}"`))),
  );
  expect(found).toEqual(FOUND);
  const waiting = queries.filter(([, query]) => query.includes('StartTime'));
  expect(waiting).toHaveLength(1);
  for (const [, query] of waiting) expect(await find(query)).toEqual([]);
});
