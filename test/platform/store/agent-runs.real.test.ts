import { startPostgres } from '../../helpers/postgres.ts';
import { agentRunsContract } from './agent-runs.contract.ts';

describe('the runs of agent jobs in PostgreSQL', () => agentRunsContract(startPostgres));
