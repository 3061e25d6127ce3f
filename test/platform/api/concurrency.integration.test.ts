import { createDatabase } from '../../helpers/test-database.ts';
import { concurrencyContract } from './concurrency.contract.ts';

describe('two instances of the API on PostgreSQL', () => concurrencyContract(createDatabase));
