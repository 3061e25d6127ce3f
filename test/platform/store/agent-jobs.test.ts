import { startPglite } from '../../helpers/pglite.ts';
import { agentJobsContract } from './agent-jobs.contract.ts';

describe('agent jobs in the embedded database', () => agentJobsContract(startPglite));
