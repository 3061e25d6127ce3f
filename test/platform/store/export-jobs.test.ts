import { startPglite } from '../../helpers/pglite.ts';
import { exportJobsContract } from './export-jobs.contract.ts';

describe('export jobs in the embedded database', () => exportJobsContract(startPglite));
