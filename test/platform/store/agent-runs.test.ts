import { startPglite } from '../../helpers/pglite.ts';
import { agentRunsContract } from './agent-runs.contract.ts';

describe('the runs of agent jobs in the embedded database', () => agentRunsContract(startPglite));
