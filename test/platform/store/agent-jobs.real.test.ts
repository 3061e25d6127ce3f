import { startPostgres } from '../../helpers/postgres.ts';
import { agentJobsContract } from './agent-jobs.contract.ts';

describe('agent jobs in PostgreSQL', () => agentJobsContract(startPostgres));
