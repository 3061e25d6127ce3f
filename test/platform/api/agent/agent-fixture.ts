import { type AgentJob, agentJobSchema } from '../../../../contract/admin-api.ts';
import { beginAgentRun, completeAgentRun, failAgentRun } from '../../../../platform/store/agent-job-transitions.ts';
import type { Customer, CustomerOptions, TestPlatform } from '../../../helpers/platform-api.ts';
import type { ApiClient } from '../api-client.ts';
import { type ApiFixture, startApi } from '../api-fixture.ts';

export const PULL_REQUEST = 'https://git.example.com/docs/pulls/7';

type Headers = Record<string, string>;

export type AgentFixture = ApiFixture & {
  /** A new organization with a project and a key. */
  addCustomer: TestPlatform['addCustomer'];
  create(customer: Customer, body?: unknown, headers?: Headers): ReturnType<ApiClient['post']>;
  /** Creates a job and expects it to be accepted. */
  created(customer: Customer, prompt?: string): Promise<AgentJob>;
  /** Requests an action for a job: `message` (with a prompt), `cancel` or `archive`. */
  act(customer: Customer, id: string, action: string, body?: unknown, headers?: Headers): ReturnType<ApiClient['post']>;
  read(customer: Customer, id: string): Promise<AgentJob>;
  /** Starts and ends a run as a worker would. */
  complete(id: string, run?: number, prLink?: string | null): Promise<void>;
  fail(id: string, run?: number): Promise<void>;
};

export const jobsPath = ({ project }: Customer): string => `/v2/agent/${project}/jobs`;
export const createPath = ({ project }: Customer): string => `/v2/agent/${project}/job`;
export const jobPath = (customer: Customer, id: string): string => `${createPath(customer)}/${id}`;

/** The agent endpoints. Checks each response against the OpenAPI document. */
export async function startAgentApi(): Promise<AgentFixture> {
  const fixture = await startApi();
  const { platform, api } = fixture;
  const create: AgentFixture['create'] = (customer, body = { prompt: 'Do it' }, headers = {}) =>
    api.post(createPath(customer), { key: customer.key, body, headers });
  return {
    ...{ ...fixture, create },
    addCustomer: platform.addCustomer,
    async created(customer, prompt = 'Do it') {
      const response = await create(customer, { prompt });
      expect(response.status).toBe(201);
      return agentJobSchema.parse(response.body);
    },
    act: (customer, id, action, body, headers = {}) =>
      api.post(`${jobPath(customer, id)}/${action}`, { key: customer.key, body, headers }),
    async read(customer, id) {
      return agentJobSchema.parse((await api.get(jobPath(customer, id), { key: customer.key })).body);
    },
    async complete(jobId, run = 1, prLink = PULL_REQUEST) {
      await beginAgentRun(platform.db, { jobId, run });
      await completeAgentRun(platform.db, { jobId, run, prLink });
    },
    async fail(jobId, run = 1) {
      await beginAgentRun(platform.db, { jobId, run });
      await failAgentRun(platform.db, { jobId, run, error: 'The agent ended with exit code 1' });
    },
  };
}

/** Gives the tests of the calling `describe` one fixture, and each test its own customer. */
export function useAgentApi(
  take: (given: { agents: AgentFixture; customer: Customer }) => void,
  options: CustomerOptions = {},
): void {
  let agents: AgentFixture;

  beforeAll(async () => {
    agents = await startAgentApi();
  });
  beforeEach(async () => {
    take({ agents, customer: await agents.addCustomer(options) });
  });
  afterAll(() => agents?.stop());
}
