import { createDatabase } from '../../helpers/test-database.ts';
import { pullRequestsContract } from './pull-requests.contract.ts';

describe('pull requests in PostgreSQL', () => pullRequestsContract(createDatabase));
