import type { DeploymentValues } from '../contract/values-file.ts';
import { createHeaderPolicy, type HeaderPolicy } from './serve/header-policy.ts';
import { createRepresentations, type Representations } from './serve/representation.ts';
import { describeCapabilities } from './values/capabilities.ts';
import { DEFAULT_SETTINGS } from './values/values.ts';
import type { ValuesState } from './values/watch-values.ts';

export type LiveSettings = {
  current(): DeploymentValues;
  policy(): HeaderPolicy;
  representations(): Representations;
  /** An unreadable values file changes nothing. */
  apply(values: ValuesState): void;
};

/**
 * What the values file's group `deployment` says, and what follows from it for responses.
 * @param isPrivate visitors sign in
 */
export function createLiveSettings(isPrivate: boolean): LiveSettings {
  let current = DEFAULT_SETTINGS;
  let policy = policyOf(current);
  let representations = createRepresentations(policy, isPrivate);
  return {
    current: () => current,
    policy: () => policy,
    representations: () => representations,
    apply(values) {
      if (values.kind === 'unreadable' || JSON.stringify(values.wanted.settings) === JSON.stringify(current)) return;
      current = values.wanted.settings;
      policy = policyOf(current);
      representations = createRepresentations(policy, isPrivate);
    },
  };
}

function policyOf(settings: DeploymentValues): HeaderPolicy {
  const apiPlayground = describeCapabilities(settings).features.apiPlayground.enabled;
  return createHeaderPolicy({ kind: settings.kind, rules: settings.headers, apiPlayground });
}
