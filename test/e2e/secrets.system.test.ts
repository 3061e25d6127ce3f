import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { valuesFile } from '../../contract/values-file.ts';
import { POSTGRES_PASSWORD } from '../helpers/postgres.ts';
import { answerWith, loseAnswer } from '../helpers/system/faults.ts';
import { CONTENTFUL_SECRET, OPERATOR_TOKEN } from '../helpers/system/orchestrator.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { storedInTemporal } from '../helpers/system/stored-in-temporal.ts';
import { domainOf, edition, type System, startSystem } from '../helpers/system/system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

/** The secret key of the tests' S3 server. */
const S3_SECRET = 'test-secret';

describe('the secrets of the whole product', () => {
  let system: System;
  let secrets: Record<string, string>;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startSystem({
      sites: { handbook: { quietPeriod: '100ms', maxWait: '1s', refreshMargin: '50%' } },
      objects: 's3',
      variables: { LOG_LEVEL: 'debug', BUNDLE_LINK_TTL: '8s', MIN_REFRESH_INTERVAL: '1s' },
    });
    secrets = {
      key: system.key.key.replace('galley_', ''),
      webhook: CONTENTFUL_SECRET,
      operator: OPERATOR_TOKEN,
      database: POSTGRES_PASSWORD,
      storage: S3_SECRET,
    };
  });

  afterAll(() => system?.stop());

  const link = async (): Promise<string> => {
    const values = valuesFile.parse(parse(await readFile(system.valuesFile('handbook'), 'utf8')));
    return values.staticExport?.bundleUrl ?? '';
  };

  const found = (text: string): string[] =>
    Object.entries(secrets).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));

  scenario(
    'are neither in Temporal nor in any log at debug level, despite refreshes, faults and rejections',
    async () => {
      const signatures = new Set<string>();
      for (const [path, behaviour] of [
        [/\/jobs$/, loseAnswer()],
        [/\/jobs\/[^/]+$/, answerWith(500)],
        [/\/bundle$/, answerWith(429, { 'retry-after': '1' })],
      ] as const) {
        system.proxy.intercept({ path, times: 1 }, behaviour);
      }
      expect((await system.publish('handbook')).status).toBe(202);
      await system.untilServed('handbook', 'edition 1');
      await waitFor(
        async () => {
          signatures.add(new URL(await link()).searchParams.get('X-Amz-Signature') ?? '');
          return signatures.size > 2;
        },
        { describe: 'refreshed the link twice' },
      );
      const forged = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' };
      expect(
        (await fetch(`${system.url}/webhooks/handbook/contentful`, { method: 'POST', headers: forged, body: '{}' }))
          .status,
      ).toBe(401);
      await system.platform.revokeKey(system.key.id);
      system.origin('handbook').put('/', edition('edition 2'));
      await system.publish('handbook');
      await waitFor(async () => (await system.state('handbook')).lastError?.status === 401, {
        describe: 'reported the rejected key',
      });

      const stored = await storedInTemporal(system.temporal);
      expect(stored).toContain(domainOf('handbook'));
      expect(found(stored)).toEqual([]);
      const names = ['platform', 'platform-worker', 'api', 'worker', 'deployment-handbook'];
      // Debug lines must be present, or the checks below prove little.
      expect(names.flatMap((name) => system.programs.lines(name)).join('\n')).toContain('"level":20');
      for (const name of names) {
        const log = system.programs.lines(name).join('\n');
        expect([name, log.length > 200]).toEqual([name, true]);
        expect([name, found(log)]).toEqual([name, []]);
        const leaked = [...signatures].filter((signature) => signature !== '' && log.includes(signature));
        expect([name, leaked]).toEqual([name, []]);
      }
    },
  );
});
