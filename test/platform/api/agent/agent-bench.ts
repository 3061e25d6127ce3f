import { type AgentJob, agentJob } from '../../../../contract/admin-api.ts';
import { beginAgentRun, completeAgentRun, failAgentRun } from '../../../../platform/store/agent-job-transitions.ts';
import { createOpenApiCheck, type OpenApiCheck } from '../../../helpers/openapi-check.ts';
import {
  type Customer,
  type CustomerOptions,
  startTestPlatform,
  type TestPlatform,
} from '../../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from '../api-client.ts';

export const PULL_REQUEST = 'https://git.example.com/docs/pulls/7';

type Headers = Record<string, string>;

export type AgentBench = {
  database: TestDatabase;
  platform: TestPlatform;
  check: OpenApiCheck;
  api: ApiClient;
  /** A new organization with a project and a key. */
  addCustomer: TestPlatform['addCustomer'];
  create(customer: Customer, body?: unknown, headers?: Headers): ReturnType<ApiClient['post']>;
  /** A job that was accepted. */
  created(customer: Customer, prompt?: string): Promise<AgentJob>;
  /** Asks for an action of a job: `message` (with a prompt), `cancel`, `archive`. */
  act(customer: Customer, id: string, action: string, body?: unknown, headers?: Headers): ReturnType<ApiClient['post']>;
  read(customer: Customer, id: string): Promise<AgentJob>;
  /** Begins and ends a run as a worker would. */
  complete(id: string, run?: number, prLink?: string | null): Promise<void>;
  fail(id: string, run?: number): Promise<void>;
  stop(): Promise<void>;
};

export const jobsPath = ({ project }: Customer): string => `/v2/agent/${project}/jobs`;
export const createPath = ({ project }: Customer): string => `/v2/agent/${project}/job`;
export const jobPath = (customer: Customer, id: string): string => `${createPath(customer)}/${id}`;

/** The agent endpoints over an embedded database; every answer is held against the OpenAPI document. */
export async function startAgentBench(): Promise<AgentBench> {
  const database = await createDatabase();
  const platform = await startTestPlatform(database);
  const document = await (await fetch(`${platform.baseUrl}/openapi.json`)).json();
  const check = createOpenApiCheck(document, { under: '/v2/' });
  const api = createApiClient(platform.baseUrl, check);
  const create: AgentBench['create'] = (customer, body = { prompt: 'Do it' }, headers = {}) =>
    api.post(createPath(customer), { key: customer.key, body, headers });
  return {
    ...{ database, platform, check, api, create },
    addCustomer: platform.addCustomer,
    async created(customer, prompt = 'Do it') {
      const answer = await create(customer, { prompt });
      expect(answer.status).toBe(201);
      return agentJob.parse(answer.body);
    },
    act: (customer, id, action, body, headers = {}) =>
      api.post(`${jobPath(customer, id)}/${action}`, { key: customer.key, body, headers }),
    async read(customer, id) {
      return agentJob.parse((await api.get(jobPath(customer, id), { key: customer.key })).body);
    },
    async complete(jobId, run = 1, prLink = PULL_REQUEST) {
      await beginAgentRun(platform.db, { jobId, run });
      await completeAgentRun(platform.db, { jobId, run, prLink });
    },
    async fail(jobId, run = 1) {
      await beginAgentRun(platform.db, { jobId, run });
      await failAgentRun(platform.db, { jobId, run, error: 'The agent ended with exit code 1' });
    },
    async stop() {
      await platform.stop();
      await database.stop();
    },
  };
}

/** Gives the tests of the calling `describe` one bench, and each of them a customer of its own. */
export function useAgentBench(
  take: (given: { bench: AgentBench; customer: Customer }) => void,
  options: CustomerOptions = {},
): void {
  let bench: AgentBench;

  beforeAll(async () => {
    bench = await startAgentBench();
  });
  beforeEach(async () => {
    take({ bench, customer: await bench.addCustomer(options) });
  });
  afterAll(async () => {
    await bench?.stop();
  });
}
