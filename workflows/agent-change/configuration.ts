import type { RuleSettings } from '../../contract/settings.ts';
import { readRule } from '../agent-rule/configuration.ts';
import type { SettingsSource } from '../entity/configuration.ts';
import type { ChangeRun } from './state.ts';
import { reportUnconfigured } from './transitions.ts';

export function settingsSource(run: ChangeRun): SettingsSource<RuleSettings> {
  return { ...readRule(run), run, reportMissing: ({ message }) => reportUnconfigured(run.state, message) };
}
