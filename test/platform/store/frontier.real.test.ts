import { startPostgres } from '../../helpers/postgres.ts';
import { frontierContract } from './frontier.contract.ts';
import { frontierRulesContract } from './frontier-rules.contract.ts';

frontierContract('PostgreSQL', startPostgres);
frontierRulesContract('PostgreSQL', startPostgres);
