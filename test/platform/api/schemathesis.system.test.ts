import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { completeAgentRun } from '../../../platform/store/agent-job-transitions.ts';
import { type Customer, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { locateRealTool } from '../../helpers/real-tool.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';
import { createDatabase } from '../../helpers/test-database.ts';

/**
 * Valid data may be rejected with 422 if its Idempotency-Key was used for another request. Text that is too long may be
 * rejected with 413, because escaping makes the body too large.
 */
const config = (project: string) => `
[dictionaries.projects]
values = ["${project}"]

[parameters]
# Sometimes an unknown project, which is 404.
"path.projectId" = { dictionary = "projects", probability = 0.8 }

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "422", "429"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
`;

const TEN_MINUTES_MS = 600_000;

/** A fixed seed sends the same requests each time, so a new failure comes from a change. */
const SEED = process.env.TEST_SEED ?? '1';

/** Most jobs end at once, so that requests find ended ones. Every fifth stays active, so that some meet a conflict. */
const STAYS_ACTIVE = 5;

describe('schemathesis on the whole OpenAPI document', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let customer: Customer;
  let folder: string;
  let promptCount = 0;

  beforeAll(async () => {
    database = await createDatabase();
    let starts = 0;
    const ends = () => {
      starts += 1;
      return starts % STAYS_ACTIVE !== 0;
    };
    platform = await startTestPlatform(database, {
      startExport: async (jobId) => {
        if (ends()) await platform.complete(jobId);
      },
      startAgentJob: async (key) => {
        promptCount += 1;
        // So that only some requests exceed the hourly limit.
        platform.advance(20_000);
        if (ends()) await completeAgentRun(platform.db, { ...key, prLink: 'https://git.example.com/docs/pulls/7' });
      },
    });
    // The examples in the document start exports of this domain.
    customer = await platform.addCustomer({ domain: 'docs.customer.example' });
    folder = await mkdtemp(join(tmpdir(), 'galley-schemathesis-'));
    await writeFile(join(folder, 'schemathesis.toml'), config(customer.project));
  });
  afterAll(async () => {
    await platform?.stop();
    await database?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it(
    'finds no failure with all checks',
    async () => {
      const run = spawn(
        await locateRealTool('schemathesis'),
        [
          'run',
          `${platform.baseUrl}/openapi.json`,
          '--header',
          `Authorization: Bearer ${customer.key}`,
          '--checks',
          'all',
          '--continue-on-failure',
          '--max-examples',
          '12',
          '--seed',
          SEED,
          '--suppress-health-check',
          'too_slow',
          '--no-color',
        ],
        { cwd: folder, env: { PATH: process.env.PATH ?? '', HOME: folder }, stdio: ['ignore', 'pipe', 'pipe'] },
      );
      const [output, errors, [code]] = await Promise.all([text(run.stdout), text(run.stderr), once(run, 'exit')]);
      const shown = `${output}${errors}`.split('\n').map((line) => line.slice(0, 400));
      if (code !== 0) throw new Error(`schemathesis ended with ${code}:\n${shown.slice(-150).join('\n')}`);
      const count = await countOperations(`${platform.baseUrl}/openapi.json`);
      expect(output).toMatch(new RegExp(`Operations:\\s+${count} selected / ${count} total`));
      expect(output).not.toContain('FAILURES');
      // Schemathesis also got beyond rejections.
      expect(promptCount).toBeGreaterThan(10);
    },
    TEN_MINUTES_MS,
  );
});

const document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

async function countOperations(url: string): Promise<number> {
  const { paths } = document.parse(await (await fetch(url)).json());
  return Object.values(paths).flatMap((path) => METHODS.filter((method) => method in path)).length;
}
