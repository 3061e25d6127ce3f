import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { completeAgentRun } from '../../../platform/store/agent-job-transitions.ts';
import { type Customer, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { locateRealTool } from '../../helpers/real-tool.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';
import { createDatabase } from '../../helpers/test-database.ts';

/**
 * A key used before for another request is refused whatever the data: by what happened, as with the 409 and 429 that
 * schemathesis lets pass by itself. A text that is too long may, once escaped, also be a body that is too large.
 */
const config = (project: string) => `
[dictionaries.projects]
values = ["${project}"]

[parameters]
# Now and then another one: what nobody has is 404.
"path.projectId" = { dictionary = "projects", probability = 0.8 }

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "422", "429"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
`;

const TEN_MINUTES_MS = 600_000;

/** The same requests each time: who changes something is told of that, and not of what another seed would find. */
const SEED = process.env.TEST_SEED ?? '1';

/** Most jobs end at once, so that what needs an ended one is there; every fifth goes on, so that conflicts are too. */
const GOES_ON = 5;

describe('schemathesis over the whole OpenAPI document', () => {
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
      return starts % GOES_ON !== 0;
    };
    platform = await startTestPlatform(database, {
      startExport: async (jobId) => {
        if (ends()) await platform.complete(jobId);
      },
      startAgentJob: async (key) => {
        promptCount += 1;
        // So that the hour's limit is met only now and then.
        platform.advance(20_000);
        if (ends()) await completeAgentRun(platform.db, { ...key, prLink: 'https://git.example.com/docs/pulls/7' });
      },
    });
    // The document's example starts exports of it.
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
    'finds nothing with all checks',
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
      expect(output).toMatch(/Operations:\s+13 selected/);
      expect(output).not.toContain('FAILURES');
      // Not only refusals were seen.
      expect(promptCount).toBeGreaterThan(10);
    },
    TEN_MINUTES_MS,
  );
});
