import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { projectSettings } from '../../../platform/project-settings.ts';
import { openCrawl } from '../../../platform/store/crawls.ts';
import { type Database, openDatabase } from '../../../platform/store/database.ts';
import { insertExportJob } from '../../../platform/store/export-jobs.ts';
import { type FoundUrl, settleUrls } from '../../../platform/store/frontier.ts';
import { giveBackUnasked, leaseUrls, releaseLeases } from '../../../platform/store/frontier-leases.ts';
import { queryVariants } from '../../../platform/store/frontier-queries.ts';
import { countSkips, skipsByReason } from '../../../platform/store/frontier-skips.ts';
import { ensureOrganization } from '../../../platform/store/organizations.ts';
import { insertProject } from '../../../platform/store/projects.ts';
import type { TestDatabase } from '../../helpers/pglite.ts';

const leaseMs = 60_000;

function found(path: string, change: Partial<FoundUrl> = {}): FoundUrl {
  return { url: `https://d.example${path}`, rank: 5, depth: 1, foundOn: null, skip: null, take: false, ...change };
}

async function openJob(db: Database): Promise<string> {
  const organization = await ensureOrganization(db, { name: 'o', plan: 'enterprise', defaultPlan: 'free' });
  const at = { organizationId: organization.id, domain: `${randomBytes(6).toString('hex')}.example` };
  const projectId = `prj_${randomBytes(6).toString('hex')}`;
  const settings = projectSettings.parse({});
  await insertProject(db, { id: projectId, ...at, origin: null, repository: null, ref: null, settings });
  const job = { ...at, projectId, version: null, paths: null, at: new Date() };
  const { id: jobId } = await db.transaction((tx) => insertExportJob(tx, job));
  await openCrawl(db, { jobId, projectId, settingsJson: '{}', reuseKey: '', takes: false, keep: false });
  return jobId;
}

/** What the frontier promises of addresses that rules keep back, on any database that the product runs on. */
export function frontierRulesContract(name: string, start: () => Promise<TestDatabase>): void {
  describe(`the frontier's rules on ${name}`, () => {
    let server: TestDatabase;
    let db: Database;
    let jobId: string;

    beforeAll(async () => {
      server = await start();
      db = await openDatabase({ ...server, logger: pino({ level: 'silent' }) });
    });

    afterAll(async () => {
      await db.close();
      await server.stop();
    });

    beforeEach(async () => {
      jobId = await openJob(db);
    });

    const add = (...urls: FoundUrl[]) => settleUrls(db, { jobId, token: 'seed', leaseMs, settled: [], found: urls });
    const lease = (token: string, limit = 10) => leaseUrls(db, { jobId, token, limit, leaseMs });

    it('counts no try of an address that was held but never asked for', async () => {
      await add(...['/a', '/b'].map((path) => found(path)));
      const [a, b] = await lease('one');
      const ids = [a?.id ?? 0];
      await giveBackUnasked(db, { jobId, token: 'another', ids });
      expect(await lease('two')).toEqual([]);
      await giveBackUnasked(db, { jobId, token: 'one', ids });
      await releaseLeases(db, jobId, ['one']);
      const again = await lease('two');
      expect(new Map(again.map(({ id, attempts }) => [id, attempts]))).toEqual(
        new Map([
          [a?.id, 1],
          [b?.id, 2],
        ]),
      );
    });

    it('knows the query strings of each path, but for those that were left out', async () => {
      await add(
        found('/'),
        found('/a?x=1'),
        found('/a?y=?2'),
        found('/a?z', { rank: 0, skip: 'queries' }),
        found('/b?'),
      );
      expect(await queryVariants(db, jobId)).toEqual(
        new Map([
          ['https://d.example/a', new Set(['?x=1', '?y=?2'])],
          ['https://d.example/b', new Set(['?'])],
        ]),
      );
    });

    it('tells what was left out by reason, the most frequent first, with the lowest addresses', async () => {
      const skipped = (path: string, skip: string) => found(path, { skip, rank: 0 });
      await add(found('/'), skipped('/x', 'too deep'), ...['/c', '/a', '/b'].map((path) => skipped(path, 'robots')));
      expect(await countSkips(db, jobId)).toEqual(
        new Map([
          ['robots', 3],
          ['too deep', 1],
        ]),
      );
      expect(await skipsByReason(db, jobId, 2)).toEqual([
        { reason: 'robots', count: 3, examples: ['https://d.example/a', 'https://d.example/b'] },
        { reason: 'too deep', count: 1, examples: ['https://d.example/x'] },
      ]);
    });
  });
}
