import { startPglite } from '../../helpers/pglite.ts';
import { frontierContract } from './frontier.contract.ts';
import { frontierRulesContract } from './frontier-rules.contract.ts';

frontierContract('the embedded database', startPglite);
frontierRulesContract('the embedded database', startPglite);
