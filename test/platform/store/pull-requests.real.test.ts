import { startPostgres } from '../../helpers/postgres.ts';
import { pullRequestsContract } from './pull-requests.contract.ts';

describe('pull requests in PostgreSQL', () => pullRequestsContract(startPostgres));
