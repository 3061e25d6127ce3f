import pino from 'pino';
import { isDatabaseAway } from '../../../platform/store/database-away.ts';
import { OPERATOR_TOKEN, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { usePlatform } from './use-platform.ts';

describe("the platform's API", () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let api: ApiClient;
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });

  usePlatform(
    (given) => {
      ({ database, platform, api } = given);
    },
    { logger },
  );

  it.each([
    ['range', 'bytes=99999999-', 416],
    ['if-match', '"another"', 412],
    ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT', 412],
  ])('refuses a file of its pages asked for with %s: %s by %i and not by a fault', async (name, value, status) => {
    const answer = await api.get('/docs/swagger-ui.css', { headers: { [name]: value } });
    expect(answer.status).toBe(status);
  });

  it('knows no key whose name the database could not even look for', async () => {
    expect((await api.adminPost('/admin/keys/key_%00/revoke', {})).status).toBe(404);
    expect((await api.adminPost(`/admin/keys/${'k'.repeat(2000)}/revoke`, {})).status).toBe(404);
  });

  it.each([
    ['webhookSecret', 'hush\u0000hush'],
    ['webhookSecret', 'hush\ud800'],
    ['webhookUrl', 'https://ci.example.com/\u0000'],
  ])('refuses the project setting %s %j, which the database could not keep', async (name, value) => {
    const { organization, project } = await platform.addCustomer();
    const answer = await api.request('PATCH', '/admin/projects', {
      key: OPERATOR_TOKEN,
      body: { organization, project, settings: { [name]: value } },
    });
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(`settings.${name}`)]);
  });

  it('opens the admin routes by an operator token of any characters', async () => {
    const operatorToken = 'p@ss!word:$"x"';
    const other = await startTestPlatform(database, { db: platform.db, operatorToken });
    const client = createApiClient(other.baseUrl);
    const [right, wrong] = [
      await client.get('/admin/keys', { key: operatorToken }),
      await client.get('/admin/keys', { key: `${operatorToken}x` }),
    ];
    await other.stop();
    expect([right.status, wrong.status]).toEqual([200, 401]);
  });

  it('writes no value of a statement that failed to the log', async () => {
    const { organization, project } = await platform.addCustomer();
    await platform.db.execute('alter table projects rename column ref to branch');
    const answer = await api.request('PATCH', '/admin/projects', {
      key: OPERATOR_TOKEN,
      body: { organization, project, settings: { webhookSecret: 'hush-value' } },
    });
    await platform.db.execute('alter table projects rename column branch to ref');
    expect(answer.status).toBe(500);
    const logged = log.filter((line) => line.includes('Request failed')).join('');
    expect(logged).toContain('column projects.ref does not exist');
    expect([project, 'hush-value'].filter((value) => logged.includes(value))).toEqual([]);
  });

  it('tells by its metrics how requests ended, by route, and how the process does', async () => {
    const { key } = await platform.addCustomer();
    await api.get('/v1/static-export/jobs/se_0123456789abcdef', { key });
    await api.get('/no/such/path');
    const answer = await fetch(`${platform.baseUrl}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    const text = await answer.text();
    const counted = (labels: string) => text.includes(`galley_platform_requests_total{${labels}} 1`);
    expect(counted('method="GET",route="/v1/static-export/jobs/:jobId",status="404"')).toBe(true);
    expect(counted('method="GET",route="none",status="404"')).toBe(true);
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
    expect(text).not.toContain('se_0123456789abcdef');
    expect((await api.post('/metrics', {})).headers.get('allow')).toBe('GET, HEAD');
  });

  it('takes a database that may only be read, as after a failover, for one that is away', async () => {
    const { key, domain } = await platform.addCustomer();
    await platform.db.execute('set default_transaction_read_only = on');
    const answer = await api.post('/v1/static-export/jobs', { key, body: { domain } });
    await platform.db.execute('set default_transaction_read_only = off');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    const full = Object.assign(new Error('could not extend file: No space left on device'), { code: '53100' });
    expect(isDatabaseAway(new Error('Failed query', { cause: full }))).toBe(true);
  });
});
