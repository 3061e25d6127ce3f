import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { agentChangeState, agentRuleState } from '../../contract/agent-state.ts';
import { QUERIES, WORKFLOW_IDS } from '../../contract/names.ts';
import { createTestRepository } from '../helpers/forge-repository.ts';
import { type ReceivedSpan, startOtlpReceiver } from '../helpers/otlp-receiver.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { OPERATOR_TOKEN, type Orchestrator, startOrchestrator } from '../helpers/system/orchestrator.ts';
import { page, startOriginSite } from '../helpers/system/origin-site.ts';
import { startPlatformService } from '../helpers/system/platform-service.ts';
import { createPrograms } from '../helpers/system/programs.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createDatabase } from '../helpers/test-database.ts';

const SITE = 'handbook';
const RULE = 'notes';

describe('a publish on the whole product, with a trace', () => {
  const folder = temporaryFolder();
  const cleanups = createCleanups();
  let temporal: TestTemporal;
  let collector: Awaited<ReturnType<typeof startOtlpReceiver>>;
  let orchestrator: Orchestrator;

  beforeAll(async () => {
    const galley = await builtGalley();
    collector = await startOtlpReceiver();
    cleanups.add(collector.close);
    const database = await createDatabase();
    cleanups.add(database.stop);
    temporal = await connectTemporal();
    cleanups.add(temporal.stop);
    const repository = await createTestRepository({ 'CHANGELOG.md': '# Changelog\n' });
    cleanups.add(repository.remove);
    const origin = await startOriginSite({ '/': page('home') });
    cleanups.add(origin.close);
    const programs = createPrograms(galley);
    cleanups.add(programs.stop);
    const shared = { folder, programs, temporalAddress: temporal.address };
    const variables = {
      ...{ TEMPORAL_NAMESPACE: temporal.namespace, OPERATOR_TOKEN },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' },
    };
    const platform = await startPlatformService({
      ...{ ...shared, galley, variables, databaseUrl: database.url, agentsApart: true },
      objectStoreUrl: pathToFileURL(join(folder, 'objects')).href,
    });
    const { key } = await platform.createKey();
    const domain = `${SITE}.example.test`;
    await platform.addProject({ name: SITE, domain, origin: origin.origin, repository: repository.url });
    const rule = { name: RULE, on: 'publish', prompt: '{{ event.title }}', quietPeriod: '100ms' };
    orchestrator = await startOrchestrator({
      ...{ ...shared, variables, adminApi: { url: platform.url, key } },
      sites: [{ name: SITE, domain, projectId: `prj_${SITE}`, agent: [rule], export: { quietPeriod: '100ms' } }],
      sections: { forge: { kind: 'embedded', url: platform.url, token: OPERATOR_TOKEN } },
    });
  });

  afterAll(cleanups.run);

  /** A span and its parents as `program: name`, outermost first; undefined if one of them hasn't arrived yet. */
  function pathTo(span: ReceivedSpan): string[] | undefined {
    const own = `${String(span.service)}: ${span.name}`;
    if (span.parentSpanId === '') return [own];
    const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
    const before = parent === undefined ? undefined : pathTo(parent);
    return before && [...before, own];
  }

  const received = (service: string, name: string): Promise<{ traceId: string; path: string[] }> =>
    waitFor(
      () => {
        const span = collector.spans.find((each) => each.service === service && each.name === name);
        const path = span && pathTo(span);
        return span !== undefined && path !== undefined && { traceId: span.traceId, path };
      },
      { describe: `sent the span ${name} of ${service}, and its parents` },
    );

  it('is one trace of five programs: from the webhook to the crawl, and to the agent', async () => {
    const response = await orchestrator.publish(SITE, "Replace '# Changelog' with '# Changes' in CHANGELOG.md");
    expect(response.status).toBe(202);
    await orchestrator.untilPhase(SITE, 'live');
    const rule = temporal.client.workflow.getHandle(WORKFLOW_IDS.agentRule(SITE, RULE));
    const { workflowId } = await waitFor(async () => agentRuleState.parse(await rule.query(QUERIES.state)).changes[0], {
      describe: 'started a change',
    });
    const change = temporal.client.workflow.getHandle(workflowId);
    await waitFor(async () => agentChangeState.parse(await change.query(QUERIES.state)).phase === 'in-review', {
      describe: 'opened a pull request',
    });
    // A workflow's span is sent when it ends.
    await change.executeUpdate('cancel');

    const crawl = await received('galley-platform-worker', 'workflow staticExportJob');
    expect(crawl.path).toEqual([
      'galley-api: POST /webhooks/:site/:source',
      'galley-worker: export',
      'galley-worker: activity startExport',
      'galley-platform: POST /v1/static-export/jobs',
      'galley-platform: start staticExportJob',
      'galley-platform-worker: workflow staticExportJob',
    ]);
    const agent = await received('galley-agent-worker', 'activity runAgent');
    expect(agent.path).toEqual([
      'galley-api: POST /webhooks/:site/:source',
      'galley-worker: prompt',
      'galley-worker: workflow agentChange',
      'galley-worker: activity createAgentJob',
      'galley-platform: POST /v2/agent/:projectId/job',
      'galley-platform: start agentJob',
      'galley-platform-worker: workflow agentJob',
      'galley-agent-worker: activity runAgent',
    ]);
    expect(agent.traceId).toBe(crawl.traceId);
  });
});
