import { startPglite } from '../../helpers/pglite.ts';
import { pullRequestsContract } from './pull-requests.contract.ts';

describe('pull requests in the embedded database', () => pullRequestsContract(startPglite));
