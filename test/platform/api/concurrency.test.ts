import { startPglite } from '../../helpers/pglite.ts';
import { concurrencyContract } from './concurrency.contract.ts';

describe('two instances of the API on the embedded database', () => concurrencyContract(startPglite));
