import { createDatabase } from '../../../helpers/test-database.ts';
import { agentRacesContract } from './agent-races.contract.ts';

describe('agent jobs asked of two instances of the API on PostgreSQL', () => agentRacesContract(createDatabase));
