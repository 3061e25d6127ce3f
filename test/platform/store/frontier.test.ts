import { startPglite } from '../../helpers/pglite.ts';
import { frontierContract } from './frontier.contract.ts';

frontierContract('the embedded database', startPglite);
