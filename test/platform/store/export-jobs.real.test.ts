import { startPostgres } from '../../helpers/postgres.ts';
import { exportJobsContract } from './export-jobs.contract.ts';

describe('export jobs in PostgreSQL', () => exportJobsContract(startPostgres));
