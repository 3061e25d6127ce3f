import { createDatabase } from '../../helpers/test-database.ts';
import { agentRunsContract } from './agent-runs.contract.ts';

describe('the runs of agent jobs in PostgreSQL', () => agentRunsContract(createDatabase));
