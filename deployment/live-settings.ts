import type { DeploymentValues } from '../contract/values-file.ts';
import { createHeaderPolicy, type HeaderPolicy } from './serve/header-policy.ts';
import { createRepresentations, type Representations } from './serve/representation.ts';
import { describeCapabilities } from './values/capabilities.ts';
import type { Target } from './values/target.ts';
import { DEFAULT_SETTINGS } from './values/values.ts';

export type LiveSettings = {
  current(): DeploymentValues;
  policy(): HeaderPolicy;
  representations(): Representations;
  /** An unreadable values file changes nothing. */
  apply(target: Target): void;
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
    apply(target) {
      if (target.kind === 'unreadable' || JSON.stringify(target.wanted.settings) === JSON.stringify(current)) return;
      current = target.wanted.settings;
      policy = policyOf(current);
      representations = createRepresentations(policy, isPrivate);
    },
  };
}

function policyOf(settings: DeploymentValues): HeaderPolicy {
  const apiPlayground = describeCapabilities(settings).features.apiPlayground.enabled;
  return createHeaderPolicy({ kind: settings.kind, rules: settings.headers, apiPlayground });
}
