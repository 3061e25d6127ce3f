import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { createOpenApiDocument } from '../../platform/api/openapi/routes.ts';
import { expectConformance, type Outcome, suitePath } from './conformance.ts';

const execute = promisify(execFile);
const HERE = import.meta.dirname;

const described = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const DOCUMENT = described.parse(createOpenApiDocument({ publicUrl: 'https://docs.galley.test' }));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-openapi-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function written(document: unknown): Promise<string> {
  const path = join(folder, 'openapi.json');
  await writeFile(path, JSON.stringify(document));
  return path;
}

/** What a program prints as JSON, whatever it exits with. */
async function json(program: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await execute(program, args, { maxBuffer: 64 * 1024 ** 2 }).catch((error: { stdout?: string }) => {
    if (!error.stdout) throw error;
    return { stdout: error.stdout };
  });
  return JSON.parse(stdout || '[]');
}

const rule = z.looseObject({ recommended: z.boolean().optional() });
const ruleset = z.object({ oas: z.object({ rules: z.record(z.string(), rule) }) });
const findings = z.array(
  z.object({ code: z.string(), message: z.string(), path: z.array(z.union([z.string(), z.number()])) }),
);

async function lint(document: unknown): Promise<z.infer<typeof findings>> {
  const spectral = suitePath('node_modules/@stoplight/spectral-cli/dist/index.js');
  const options = ['--ruleset', join(HERE, 'spectral.yaml'), '--format', 'json', '--quiet'];
  return findings.parse(await json(process.execPath, [spectral, 'lint', await written(document), ...options]));
}

test('spectral finds nothing in the OpenAPI document', async () => {
  const undescribed = { ...DOCUMENT, info: { title: 'x', version: '1' } };
  expect((await lint(undescribed)).map(({ code }) => code)).toEqual(
    expect.arrayContaining(['info-contact', 'info-description']),
  );
  const found = await lint(DOCUMENT);
  const require = createRequire(suitePath('package.json'));
  const { oas } = ruleset.parse(require('@stoplight/spectral-rulesets'));
  const rules = Object.keys(oas.rules).filter(
    (name) =>
      name === 'oas3-parameter-description' || (oas.rules[name]?.recommended !== false && !name.startsWith('oas2-')),
  );
  const unknown = found.map(({ code }) => code).filter((code) => !rules.includes(code));
  const outcomes = [...rules, ...new Set(unknown)].map((name): Outcome => {
    return { name, passed: !found.some(({ code }) => code === name) };
  });
  expectConformance({
    file: 'spectral',
    suite: "Spectral's rules for OpenAPI",
    package: '@stoplight/spectral-cli',
    shows: "the rule finds nothing in the platform's OpenAPI document",
    outcomes,
  });
});

const changes = z.array(z.object({ operation: z.string().optional(), path: z.string().optional(), text: z.string() }));

/** The differences that break clients of a published form, and those that may. */
async function broken(form: string, document: unknown): Promise<z.infer<typeof changes>> {
  const options = ['--auto-upgrade', '--format', 'json'];
  const published = join(HERE, 'published', `${form}.yaml`);
  const found = await json(suitePath('bin/oasdiff'), ['breaking', published, await written(document), ...options]);
  return changes.parse(found ?? []);
}

/** What the platform serves of each published form. */
const FORMS = {
  domain: [
    'POST /v1/static-export/jobs',
    'GET /v1/static-export/jobs/{jobId}',
    'POST /v1/static-export/jobs/{jobId}/bundle',
  ],
  project: ['POST /v1/static-export/{projectId}/jobs', 'GET /v1/static-export/{projectId}/jobs/{jobId}'],
};

test('oasdiff finds no difference to the published forms of static export that breaks a client', async () => {
  const outcomes: Outcome[] = [];
  for (const [form, operations] of Object.entries(FORMS)) {
    const without = await broken(form, { ...DOCUMENT, paths: {} });
    expect(without.map(({ operation, path }) => `${operation} ${path}`).sort()).toEqual([...operations].sort());
    const found = await broken(form, DOCUMENT);
    expect(found.filter(({ operation, path }) => !operations.includes(`${operation} ${path}`))).toEqual([]);
    for (const name of operations) {
      const texts = found.filter(({ operation, path }) => `${operation} ${path}` === name).map(({ text }) => text);
      if (texts.length === 0) outcomes.push({ name, passed: true });
      outcomes.push(...texts.map((text) => ({ name: `${name}: ${text}`, passed: false })));
    }
  }
  expectConformance({
    file: 'oasdiff',
    suite: 'oasdiff on the two forms of static export',
    package: 'github.com/oasdiff/oasdiff',
    shows: "no difference between the published operation and the platform's breaks a client",
    outcomes,
  });
});
