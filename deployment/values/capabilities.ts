import {
  AVAILABILITY,
  type Availability,
  type DeploymentKind,
  type DeploymentValues,
  FEATURES,
  type Feature,
} from '../../contract/values-file.ts';

/** The response of `GET /-/capabilities`: what this kind of deployment has, and what of it is on. */
export type Capabilities = {
  kind: DeploymentKind;
  features: Record<Feature, { availability: Availability; enabled: boolean }>;
};

/** A feature that a kind always has is on unless the values file says otherwise; a configurable one is off. */
export function describeCapabilities({ kind, features }: DeploymentValues): Capabilities {
  const describe = (feature: Feature): { availability: Availability; enabled: boolean } => {
    const availability = AVAILABILITY[kind][feature];
    return { availability, enabled: features[feature] ?? availability === 'yes' };
  };
  return {
    kind,
    features: {
      staticExport: describe('staticExport'),
      search: describe('search'),
      aiAssistant: describe('aiAssistant'),
      webAnalytics: describe('webAnalytics'),
      apiPlayground: describe('apiPlayground'),
    },
  };
}

/** The first feature that the values file switches on though the kind doesn't have it. */
export function unavailableFeature({ kind, features }: DeploymentValues): Feature | undefined {
  return FEATURES.find((feature) => features[feature] === true && AVAILABILITY[kind][feature] === 'no');
}
