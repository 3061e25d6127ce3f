import { exportJob } from '../../../contract/admin-api.ts';
import { addProject, listProjects } from '../../../platform/admin/projects.ts';
import { OPERATOR_TOKEN } from '../../helpers/platform-api.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';
import { createApiClient } from './api-client.ts';
import { type TwoPlatforms, useTwoPlatforms } from './use-two-platforms.ts';

const JOBS = '/v1/static-export/jobs';

/** What holds when two servers of the platform answer at once. */
export function concurrencyContract(startDatabase: () => Promise<TestDatabase>): void {
  let platforms: TwoPlatforms;
  useTwoPlatforms(startDatabase, (given) => {
    platforms = given;
  });

  /** Sends so many starts at once, to the two in turn. */
  async function startTogether(
    count: number,
    sent: { key: string; domain: string; headers?: (index: number) => object },
  ) {
    const answers = Array.from({ length: count }, (_, index) => {
      const platform = platforms[index % 2 === 0 ? 0 : 1];
      const headers: Record<string, string> = { ...sent.headers?.(index) };
      return createApiClient(platform.baseUrl).post(JOBS, { key: sent.key, body: { domain: sent.domain }, headers });
    });
    return Promise.all(answers);
  }

  async function jobsOf(key: string): Promise<string[]> {
    const answer = await createApiClient(platforms[0].baseUrl).get(JOBS, { key });
    const { jobs } = JSON.parse(answer.text);
    return jobs.map((job: { jobId: string }) => job.jobId);
  }

  it('makes one job of 20 starts at once with one idempotency key, and answers each the same', async () => {
    const { key, domain } = await platforms[0].addCustomer();
    const answers = await startTogether(20, { key, domain, headers: () => ({ 'idempotency-key': 'once' }) });
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 202));
    const ids = new Set(answers.map((answer) => exportJob.parse(answer.body).jobId));
    expect(ids.size).toBe(1);
    expect(await jobsOf(key)).toEqual([...ids]);
    const started = platforms.flatMap((platform) => platform.started).filter((id) => ids.has(id));
    expect(started).toHaveLength(1);
  });

  it('accepts one of 20 starts at once of one domain and refuses the others with its id', async () => {
    const { key, domain } = await platforms[0].addCustomer();
    const answers = await startTogether(20, {
      key,
      domain,
      headers: (index) => ({ 'idempotency-key': `try-${index}` }),
    });
    const [accepted, ...more] = answers.filter((answer) => answer.status === 202);
    expect(more).toEqual([]);
    const { jobId } = exportJob.parse(accepted?.body);
    const refused = answers.filter((answer) => answer.status === 409);
    expect(refused).toHaveLength(19);
    for (const { error } of refused) expect(error).toContain(jobId);
  });

  it('gives the last free slot of the hour to one of many', async () => {
    const customer = await platforms[0].addCustomer();
    const client = createApiClient(platforms[0].baseUrl);
    for (let index = 0; index < 59; index += 1) {
      const answer = await client.post(JOBS, { key: customer.key, body: { domain: customer.domain } });
      await platforms[0].complete(exportJob.parse(answer.body).jobId);
    }
    const answers = await startTogether(6, customer);
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([202, 409, 409, 409, 409, 409]);
    await platforms[0].complete(exportJob.parse(answers.find((answer) => answer.status === 202)?.body).jobId);
    expect((await startTogether(4, customer)).map((answer) => answer.status)).toEqual([429, 429, 429, 429]);
  });

  const setProject = (index: number, body: object) =>
    createApiClient(platforms[index % 2 === 0 ? 0 : 1].baseUrl).request('PATCH', '/admin/projects', {
      key: OPERATOR_TOKEN,
      body,
    });

  it('gives a domain to one of 10 projects that ask for it at once, and tells the others that it is taken', async () => {
    const { organization } = await platforms[0].addCustomer();
    const ids = Array.from({ length: 10 }, (_, index) => `prj_race_${organization.replaceAll(/\W/g, '')}_${index}`);
    for (const [index, project] of ids.entries()) {
      await addProject(platforms[0].db, { organization, project, domain: `race-${index}.example.com` });
    }
    const answers = await Promise.all(
      ids.map((project, index) => setProject(index, { project, domain: 'wanted.example.com' })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
  });

  it('loses none of several changes of one project at once', async () => {
    const { project } = await platforms[0].addCustomer();
    const changes = [{ scripts: 'strip' }, { external: 'keep' }, { webhookSecret: 'hush' }];
    for (let round = 0; round < 5; round += 1) {
      await setProject(0, { project, settings: { scripts: 'auto', external: 'bundle', webhookSecret: null } });
      await Promise.all(changes.map((settings, index) => setProject(index, { project, settings })));
      const listed = (await listProjects(platforms[0].db)).find((each) => each.project === project);
      expect(listed?.settings).toMatchObject({ scripts: 'strip', external: 'keep', webhookSecretSet: true });
    }
  });
}
