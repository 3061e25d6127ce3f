import { createDatabase } from '../../helpers/test-database.ts';
import { agentJobsContract } from './agent-jobs.contract.ts';

describe('agent jobs in PostgreSQL', () => agentJobsContract(createDatabase));
