import { startPglite } from '../../../helpers/pglite.ts';
import { agentRacesContract } from './agent-races.contract.ts';

describe('agent jobs asked of two instances of the API on the embedded database', () =>
  agentRacesContract(startPglite));
