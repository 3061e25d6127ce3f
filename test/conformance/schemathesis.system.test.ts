import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { completeAgentRun } from '../../platform/store/agent-job-transitions.ts';
import { buildBundle, siteOf } from '../deployment/bundles.ts';
import { type Customer, startTestPlatform, type TestPlatform } from '../helpers/platform-api.ts';
import type { TestDatabase } from '../helpers/test-database.ts';
import { createDatabase } from '../helpers/test-database.ts';
import { expectConformance, resultOf, suitePath, versionOf } from './conformance.ts';

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

# A domain in another script becomes ASCII, which is all that a pattern can describe.
[[operations]]
include-name = "GET /v1/static-export/jobs"
checks.negative_data_rejection.expected-statuses = ["200", "400", "401", "403", "405"]
`;

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;

/** Those of docs/conformance.md, which take a quarter of an hour. By default, the first seed's suffice. */
const ALL_CASES = 10_000;
const CASES = Number(process.env.SCHEMATHESIS_CASES ?? '1');
/** Sequences for each seed. */
const SEQUENCES = 50;

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
    const archive = await buildBundle(siteOf('1'));
    const ends = () => {
      starts += 1;
      return starts % STAYS_ACTIVE !== 0;
    };
    platform = await startTestPlatform(database, {
      startExport: async (jobId) => {
        if (ends()) await platform.complete(jobId, archive);
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

  /** Runs phases with all checks, and returns the output. @throws Error with the output if any check fails */
  async function run(phases: string, maxExamples: number, seed: string): Promise<string> {
    suitePath();
    const options = ['--checks', 'all', '--continue-on-failure', '--suppress-health-check', 'too_slow', '--no-color'];
    const child = spawn(
      join(cacheFolder(), 'suites-python', 'bin', 'schemathesis'),
      [
        ...['run', `${platform.baseUrl}/openapi.json`, '--header', `Authorization: Bearer ${customer.key}`, ...options],
        ...['--phases', phases, '--max-examples', `${maxExamples}`, '--seed', seed],
      ],
      { cwd: folder, env: { PATH: process.env.PATH ?? '', HOME: folder }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    const shown = `${output}${errors}`.split('\n').map((line) => line.slice(0, 400));
    if (code !== 0) throw new Error(`schemathesis ended with ${code}:\n${shown.slice(-150).join('\n')}`);
    expect(output).not.toContain('FAILURES');
    return output;
  }

  it(
    'finds no failure with all checks, operation by operation',
    async () => {
      const output = await run('examples,coverage,fuzzing', 12, SEED);
      const count = await countOperations(`${platform.baseUrl}/openapi.json`);
      expect(output).toMatch(new RegExp(`Operations:\\s+${count} selected / ${count} total`));
      // Schemathesis also got beyond rejections.
      expect(promptCount).toBeGreaterThan(10);
    },
    TEN_MINUTES_MS,
  );

  it(
    'finds no failure in sequences of requests',
    async () => {
      let cases = 0;
      for (let seed = Number(SEED); cases < CASES; seed++) {
        const [, generated = '0'] = /(\d+) generated/.exec(await run('stateful', SEQUENCES, `${seed}`)) ?? [];
        expect(Number(generated)).toBeGreaterThan(0);
        cases += Number(generated);
      }
      const known = { package: 'schemathesis', version: versionOf('schemathesis'), cases: ALL_CASES };
      if (CASES < ALL_CASES) expect(resultOf('schemathesis')).toMatchObject(known);
      else {
        expectConformance({
          file: 'schemathesis',
          suite: 'Schemathesis on the OpenAPI document',
          package: 'schemathesis',
          shows: `no check fails on the platform's responses in sequences of requests, by seeds from 1. The system tier runs the first seed; \`SCHEMATHESIS_CASES=${ALL_CASES}\` runs all of these`,
          outcomes: Array.from({ length: CASES }, (_, index) => ({ name: `${index + 1}`, passed: true })),
        });
      }
    },
    HOUR_MS,
  );
});

const document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

async function countOperations(url: string): Promise<number> {
  const { paths } = document.parse(await (await fetch(url)).json());
  return Object.values(paths).flatMap((path) => METHODS.filter((method) => method in path)).length;
}
