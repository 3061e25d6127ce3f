import { startPostgres } from '../../helpers/postgres.ts';
import { concurrencyContract } from './concurrency.contract.ts';

describe('two instances of the API on PostgreSQL', () => concurrencyContract(startPostgres));
