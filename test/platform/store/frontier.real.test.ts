import { startPostgres } from '../../helpers/postgres.ts';
import { frontierContract } from './frontier.contract.ts';

frontierContract('PostgreSQL', startPostgres);
