import { createDatabase } from '../../helpers/test-database.ts';
import { exportJobsContract } from './export-jobs.contract.ts';

describe('export jobs in PostgreSQL', () => exportJobsContract(createDatabase));
