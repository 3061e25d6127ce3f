import type { RuleSettings } from '../../contract/settings.ts';
import { readRule } from '../agent-rule/configuration.ts';
import type { SettingsSource } from '../entity/configuration.ts';
import { isFromOtherBuild } from '../entity/continue-as-new.ts';
import { type ChangeRun, NO_SETTINGS } from './state.ts';
import { addNote, end, reportUnconfigured } from './transitions.ts';

export function settingsSource(run: ChangeRun): SettingsSource<RuleSettings> {
  return {
    ...readRule(run),
    run,
    onAdopted(settings, before) {
      if (isFromOtherBuild(before, settings)) run.buildChanged = true;
      run.removed = false;
    },
    reportMissing: ({ message }) => reportUnconfigured(run.state, message),
    replayRemoval() {
      const { rules, build, searchAttributes, forge, expireAfterMs } = run.settings;
      run.settings = { ...NO_SETTINGS, rules, build, searchAttributes, forge, expireAfterMs };
      run.removed = true;
      addNote(run.state, 'the rule was removed from galley.yaml: no more mail is sent');
      // While a request is in progress, its result decides: the job may exist already.
      if (run.state.phase === 'prompting' && run.callsInProgress === 0) end(run.state, 'cancelled');
      return true;
    },
  };
}
